import EventStorage
import Synchronization

/// The bus in memory, which loses what a test wants it to lose.
final class SwitchedBus: NodeBus {
    private struct State {
        var isDeaf = false
        var failsToSend = false
        var sent: [NodeMessage] = []
        var receivers: [@Sendable (NodeBusEvent) -> Void] = []
    }

    private let bus = MemoryNodeBus()
    private let state = Mutex(State())

    /// Loses all that is sent from here on, while everybody believes to be connected; or does so no longer.
    func losesMessages(_ loses: Bool) {
        state.withLock { $0.isDeaf = loses }
    }

    /// Takes nothing from here on; or does so again.
    func failsToSend(_ fails: Bool) {
        state.withLock { $0.failsToSend = fails }
    }

    /// Tells every receiver that its connection is lost, or there again.
    func tell(_ event: NodeBusEvent) {
        for receive in state.withLock({ $0.receivers }) { receive(event) }
    }

    /// What was sent, lost or not.
    var sent: [NodeMessage] { state.withLock { $0.sent } }

    /// How many servers receive.
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
