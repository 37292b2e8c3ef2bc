import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomWire
import Synchronization

/// This server's end of the bus between servers: gathers what is to be told, and hears what the others tell.
///
/// What is told leaves at once while nothing is on its way; what comes within the next few milliseconds leaves together
/// after them. Where the bus is slower than that, ``queueLimit`` bounds what waits: beyond it notices are lost.
final class ClusterBus: Sendable {
    /// What is heard.
    enum Event: Sendable {
        /// From now on notices arrive.
        case connected
        /// Notices are being lost.
        case disconnected
        /// Another server tells something.
        case notice(NodeNotice, from: String)
    }

    private struct Outgoing {
        var recipient: String?
        var notice: [UInt8]
    }

    private struct State {
        /// Rooms that moved, each with its last event.
        var moved: [RoomID: Int] = [:]
        var queue: [Outgoing] = []
        var queuedBytes = 0
        /// Whether a send is due, under way, or just done.
        var isBusy = false
    }

    /// The shortest time between two sends.
    private static let interval = TimeAmount.milliseconds(2)
    /// The time after a send that failed.
    private static let intervalAfterFailure = TimeAmount.milliseconds(200)
    /// How many bytes of notices may wait: some signals of the largest kind, many of any other.
    private static let queueLimit = 8 * 1_024 * 1_024
    /// How many bytes of notices go into one message; a notice that is longer goes alone.
    private static let messageSize = 64 * 1_024
    /// What a message has around its notices.
    private static let envelopeSize = 256

    /// This server's name, different from every other's.
    let node: String
    private let bus: any NodeBus
    private let loop: any EventLoop
    private let jobs: BackgroundJobs
    private let metrics: RoomMetrics
    private let logger: Logger
    private let state = Mutex(State())

    init(
        bus: any NodeBus, node: String, loop: any EventLoop, jobs: BackgroundJobs, metrics: RoomMetrics,
        logger: Logger
    ) {
        self.bus = bus
        self.node = node
        self.loop = loop
        self.jobs = jobs
        self.metrics = metrics
        self.logger = logger
    }

    // MARK: Telling

    /// Tells others of events that are durable; may be called on any thread.
    func tell(_ room: RoomID, movedTo seq: Int) {
        start { state in
            state.moved[room] = max(state.moved[room] ?? 0, seq)
        }
    }

    /// Tells something to one server, or to all others; may be called on any thread.
    ///
    /// Notices to one recipient arrive in the order of the calls, or not at all.
    func tell(_ notice: NodeNotice, to recipient: String? = nil) {
        let encoded = notice.encoded()
        guard encoded.count <= NodeMessage.largestPayload - Self.envelopeSize else { return metrics.noticesLost(1) }
        start { state in
            guard state.queuedBytes + encoded.count <= Self.queueLimit else { return metrics.noticesLost(1) }
            state.queue.append(Outgoing(recipient: recipient, notice: encoded))
            state.queuedBytes += encoded.count
        }
    }

    /// Tells something to all others, and returns when it is on its way, or cannot be; for who stops.
    func tellLast(_ notice: NodeNotice) async {
        let payload = NodeEnvelope.encode(sender: node, notices: [notice.encoded()])
        do throws(StorageFault) {
            try await bus.send([NodeMessage(payload: payload)])
        } catch {
            logger.debug("Other servers could not be told", metadata: ["fault": "\(error)"])
        }
    }

    private func start(_ note: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            note(&state)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        // At the end of the loop's turn, so that what came together leaves together.
        if isFirst { loop.execute { self.send() } }
    }

    private func send() {
        let (moved, queue) = state.withLock { state in
            defer { state = State(isBusy: !state.moved.isEmpty || !state.queue.isEmpty) }
            return (state.moved, state.queue)
        }
        let messages = messages(moved, queue)
        guard !messages.isEmpty else { return }
        jobs.start {
            var rest = Self.interval
            do throws(StorageFault) {
                try await self.bus.send(messages)
                self.metrics.noticesSent(messages)
            } catch {
                self.logger.debug("Other servers could not be told", metadata: ["fault": "\(error)"])
                self.metrics.noticesLost(queue.count)
                rest = Self.intervalAfterFailure
                // Worth telling later as well.
                self.state.withLock { $0.moved.merge(moved) { max($0, $1) } }
            }
            self.loop.scheduleTask(in: rest) { self.send() }
        }
    }

    /// Lays notices together that go to the same recipient one after the other.
    private func messages(_ moved: [RoomID: Int], _ queue: [Outgoing]) -> [NodeMessage] {
        var outgoing = queue
        // Some forty bytes each.
        for part in Array(moved).parts(of: Self.messageSize / 64) {
            let notice = NodeNotice.moved(Dictionary(uniqueKeysWithValues: part.map { ($0.key, $0.value) }))
            outgoing.append(Outgoing(recipient: nil, notice: notice.encoded()))
        }
        var messages: [NodeMessage] = []
        var rest = outgoing[...]
        while let first = rest.first {
            var size = first.notice.count
            let part =
                rest.prefix(1)
                + rest.dropFirst().prefix { next in
                    size += next.notice.count + 1
                    return next.recipient == first.recipient && size <= Self.messageSize
                }
            rest = rest.dropFirst(part.count)
            messages.append(
                NodeMessage(
                    to: first.recipient, payload: NodeEnvelope.encode(sender: node, notices: part.lazy.map(\.notice))))
        }
        return messages
    }

    // MARK: Hearing

    /// Calls `hear`, one event after the other and on any thread, with what others tell, until the task is cancelled.
    func run(_ hear: @escaping @Sendable (Event) -> Void) async {
        await bus.run(as: node) { event in
            switch event {
            case .connected: hear(.connected)
            case .disconnected: hear(.disconnected)
            case .message(let payload):
                guard let envelope = NodeEnvelope(parsing: payload), envelope.sender != self.node else { return }
                self.metrics.noticesReceived(envelope.notices.count, bytes: payload.count)
                for notice in envelope.notices { hear(.notice(notice, from: envelope.sender)) }
            }
        }
    }
}
