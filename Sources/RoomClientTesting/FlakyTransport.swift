public import RoomClient
import Synchronization

/// A transport whose connections fail, lag and break by a plan that a seed makes.
///
/// ```swift
/// let transport = FlakyTransport(seed: 7, wrapping: NIOTransport())
/// ```
///
/// It prints its seed. What becomes of the nth connection and of the nth request depends on the seed and on n alone; the
/// order of what happens on several of them is up to the tasks. ``calm()`` ends the faults, so that a test can compare
/// what is left.
public final class FlakyTransport: ClientTransport {
    /// What may fail, and how often.
    public struct Faults: Sendable, Hashable {
        /// The part of the connections that cannot be made, from 0 to 1.
        public var failedConnects = 0.25
        /// The part of the requests without an answer, from 0 to 1: one half does not reach the server, the other does.
        public var failedRequests = 0.25
        /// The most messages that a connection carries in either direction before it is lost; nil: it is not lost.
        ///
        /// The message it is lost with may still reach the other side.
        public var longestLife: Int? = 50
        /// The longest delay of a connection, of a request and of a message.
        public var longestDelay = Duration.milliseconds(10)

        /// Faults that leave little whole.
        public init() {}
    }

    /// What has become of connections and requests so far.
    public struct Tally: Sendable, Hashable {
        /// Connections that were made.
        public var connections = 0
        /// Connections that failed by the plan.
        public var failedConnects = 0
        /// Connections that were lost by the plan.
        public var losses = 0
        /// Requests that were answered.
        public var requests = 0
        /// Requests that failed by the plan.
        public var failedRequests = 0
    }

    private struct State {
        var tally = Tally()
        var connects = 0
        var sends = 0
        var isCalm = false
    }

    /// The seed of the plan.
    public let seed: UInt64
    /// What may fail.
    public let faults: Faults

    private let inner: any ClientTransport
    private let clock: any ClientClock
    private let state = Mutex(State())

    /// A transport around another one; prints its seed.
    ///
    /// - Parameters:
    ///   - seed: What the plan is made of; a random one if none is given.
    ///   - inner: The transport that makes the connections.
    ///   - faults: What may fail.
    ///   - clock: The clock of the delays.
    public init(
        seed: UInt64 = .random(in: 0...999_999_999), wrapping inner: any ClientTransport, faults: Faults = Faults(),
        clock: any ClientClock = SystemClock()
    ) {
        self.seed = seed
        self.inner = inner
        self.faults = faults
        self.clock = clock
        print("FlakyTransport: seed \(seed)")
    }

    /// What has happened so far.
    public var tally: Tally { state.withLock { $0.tally } }

    /// Ends all faults: from now on, connections are made and stay.
    public func calm() { state.withLock { $0.isCalm = true } }

    var isCalm: Bool { state.withLock { $0.isCalm } }

    /// Sends a request, which may get no answer.
    public func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        var plan = Plan(seed, kind: 1, number: next(\.sends), faults)
        await delay(plan.delay())
        guard !isCalm, plan.once(faults.failedRequests) else {
            let response = try await inner.send(request)
            count(\.requests)
            return response
        }
        count(\.failedRequests)
        // The answer is lost.
        if plan.once(0.5) { _ = try await inner.send(request) }
        throw fault("no answer")
    }

    /// Opens a socket, which may fail, and which may be lost at any message.
    public func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        let number = next(\.connects)
        var plan = Plan(seed, kind: 2, number: number, faults)
        await delay(plan.delay())
        if !isCalm, plan.once(faults.failedConnects) {
            count(\.failedConnects)
            throw fault("no connection")
        }
        let socket = try await inner.connect(request)
        count(\.connections)
        return FlakySocket(
            socket, of: self, incoming: Plan(seed, kind: 3, number: number, faults),
            outgoing: Plan(seed, kind: 4, number: number, faults))
    }

    // MARK: For its sockets

    func fault(_ what: String) -> TransportFault { TransportFault("\(what), by the plan of seed \(seed)") }

    func delay(_ duration: Duration) async {
        if !isCalm, duration > .zero { try? await clock.sleep(until: clock.uptime + duration) }
    }

    func count(_ path: any WritableKeyPath<Tally, Int> & Sendable) { state.withLock { $0.tally[keyPath: path] += 1 } }

    private func next(_ path: any WritableKeyPath<State, Int> & Sendable) -> Int {
        state.withLock { state in
            state[keyPath: path] += 1
            return state[keyPath: path]
        }
    }
}

/// What becomes of one connection or request, in the order in which it is asked.
struct Plan: Sendable {
    private var random: SplitMix
    private let faults: FlakyTransport.Faults
    /// The messages until the loss; nil: never.
    let life: Int?
    /// Whether the message of the loss reaches the other side.
    let lastArrives: Bool

    init(_ seed: UInt64, kind: UInt64, number: Int, _ faults: FlakyTransport.Faults) {
        var random = SplitMix(state: seed &* 5 &+ kind)
        random = SplitMix(state: random.next() ^ UInt64(number))
        life = faults.longestLife.map { Int.random(in: 1...max(1, $0), using: &random) }
        lastArrives = Bool.random(using: &random)
        self.random = random
        self.faults = faults
    }

    mutating func once(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &random) < part }

    mutating func delay() -> Duration { faults.longestDelay * Double.random(in: 0...1, using: &random) }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SplitMix: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
