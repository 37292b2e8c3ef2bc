/// A bus between servers in one process.
package actor MemoryNodeBus: NodeBus {
    private struct Receiver {
        var number: Int
        var node: String
        var receive: @Sendable (NodeBusEvent) -> Void
    }

    private var receivers: [Receiver] = []
    private var lastReceiver = 0

    package init() {}

    package func send(_ messages: [NodeMessage]) async throws(StorageFault) {
        guard messages.allSatisfy({ $0.payload.count <= NodeMessage.largestPayload }) else {
            throw .rejected(.init(message: "a message that is too long"))
        }
        for message in messages {
            for receiver in receivers where message.recipient ?? receiver.node == receiver.node {
                receiver.receive(.message(message.payload))
            }
        }
    }

    package func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async {
        lastReceiver += 1
        let number = lastReceiver
        receivers.append(Receiver(number: number, node: node, receive: receive))
        receive(.connected)
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        // Ends with the task's cancellation.
        for await _ in never {}
        end.finish()
        receivers.removeAll { $0.number == number }
    }
}
