import EventStorage
import Synchronization

/// The bus in memory, which loses messages when a test wants it to.
final class SwitchedBus: NodeBus {
    private struct State {
        var isDeaf = false
        var failsToSend = false
        var sent: [NodeMessage] = []
        var receivers: [@Sendable (NodeBusEvent) -> Void] = []
    }

    private let bus = MemoryNodeBus()
    private let state = Mutex(State())

    /// Loses all messages from now on, while all receivers believe that they are connected; or stops doing so.
    func losesMessages(_ loses: Bool) {
        state.withLock { $0.isDeaf = loses }
    }

    /// Refuses to send from now on; or stops doing so.
    func failsToSend(_ fails: Bool) {
        state.withLock { $0.failsToSend = fails }
    }

    /// Tells every receiver that its connection is lost, or is back.
    func tell(_ event: NodeBusEvent) {
        for receive in state.withLock({ $0.receivers }) { receive(event) }
    }

    /// The messages sent, including lost ones.
    var sent: [NodeMessage] { state.withLock { $0.sent } }

    /// The number of receiving servers.
    var receivers: Int { state.withLock { $0.receivers.count } }

    func send(_ messages: [NodeMessage]) async throws(StorageFault) {
        if state.withLock({ $0.failsToSend }) { throw FaultyEventStore.unreachable }
        let isLost = state.withLock { state in
            state.sent += messages
            return state.isDeaf
        }
        if !isLost { try await bus.send(messages) }
    }

    func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async {
        state.withLock { $0.receivers.append(receive) }
        await bus.run(as: node, receive)
    }
}
