import EventStorage
import SimulatedTime
import Synchronization

/// The network between servers: messages are late, lost, or delivered twice.
///
/// Messages of one sender to one recipient keep their order.
final class SimulatedNetwork: Sendable {
    private struct Pair: Hashable {
        var sender: String
        var recipient: String
    }

    private struct Receiver {
        var bus: SimulatedNodeBus
        var receive: @Sendable (NodeBusEvent) -> Void
    }

    private struct State {
        var receivers: [Receiver] = []
        /// The time at which the last message of a pair arrives.
        var lastArrival: [Pair: Int64] = [:]
        var losesOnceIn = 0
    }

    private let log: SimulatedLog
    private let wires: Scheduler.Lane
    private let state = Mutex(State())

    init(_ log: SimulatedLog) {
        self.log = log
        wires = log.scheduler.makeLane(isOrdered: true)
    }

    /// The average number of messages for one that is lost; 0: none is.
    var losesOnceIn: Int {
        get { state.withLock { $0.losesOnceIn } }
        set { state.withLock { $0.losesOnceIn = newValue } }
    }

    fileprivate func add(_ bus: SimulatedNodeBus, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) {
        state.withLock { $0.receivers.append(Receiver(bus: bus, receive: receive)) }
        if !bus.isCutOff { tell(bus, .connected) }
    }

    fileprivate func remove(_ bus: SimulatedNodeBus) {
        state.withLock { $0.receivers.removeAll { $0.bus === bus } }
    }

    /// Delivers a message or a change of the connection to a server, in its turn.
    fileprivate func tell(_ bus: SimulatedNodeBus, _ event: NodeBusEvent) {
        guard let receiver = state.withLock({ $0.receivers.first { $0.bus === bus } }) else { return }
        log.scheduler.post(bus.lane) { receiver.receive(event) }
    }

    fileprivate func send(_ message: NodeMessage, from sender: String) {
        let (receivers, losesOnceIn) = state.withLock { ($0.receivers.map(\.bus), $0.losesOnceIn) }
        for bus in receivers where message.recipient ?? bus.node == bus.node {
            for _ in 0..<(losesOnceIn > 0 && log.dice.once(in: 30) ? 2 : 1) {
                guard !log.dice.once(in: losesOnceIn) else {
                    log.truth.note("a message of \(sender) to \(bus.node) is lost")
                    continue
                }
                let pair = Pair(sender: sender, recipient: bus.node)
                let slow = losesOnceIn > 0 && log.dice.once(in: 10)
                let delay = log.dice.time(microseconds: 50...(slow ? 500_000 : 5_000))
                let arrival = state.withLock { state in
                    let arrival = max(state.lastArrival[pair] ?? 0, log.scheduler.now + delay)
                    state.lastArrival[pair] = arrival
                    return arrival
                }
                log.scheduler.post(wires, after: arrival - log.scheduler.now) {
                    if !bus.isCutOff { self.tell(bus, .message(message.payload)) }
                }
            }
        }
    }
}

/// One server's access to the network.
final class SimulatedNodeBus: NodeBus {
    let node: String
    /// The lane in which it receives: one event after the other.
    let lane: Scheduler.Lane
    private let network: SimulatedNetwork
    private let cutOff = Atomic(false)

    init(_ network: SimulatedNetwork, node: String, _ scheduler: Scheduler) {
        self.network = network
        self.node = node
        lane = scheduler.makeLane(isOrdered: true)
    }

    var isCutOff: Bool { cutOff.load(ordering: .relaxed) }

    /// Disconnects, or connects again.
    func cutOff(_ isCutOff: Bool) {
        guard cutOff.exchange(isCutOff, ordering: .relaxed) != isCutOff else { return }
        network.tell(self, isCutOff ? .disconnected : .connected)
    }

    func send(_ messages: [NodeMessage]) async throws(StorageFault) {
        guard !isCutOff else { throw SimulatedLog.unreachable }
        for message in messages { network.send(message, from: node) }
    }

    func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async {
        network.add(self, receive)
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        // Ends with the task's cancellation.
        for await _ in never {}
        end.finish()
        network.remove(self)
    }
}
