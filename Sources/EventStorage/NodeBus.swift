/// How the servers on one log tell each other what is too small or too fleeting for the log: which streams moved, who
/// is present, what is relayed.
///
/// Messages may be lost, come late, or come back to their sender; nobody's correctness may rest on them. Those of one
/// sender to one recipient keep their order.
package protocol NodeBus: Sendable {
    /// Sends messages, in order; they are on their way when this returns.
    ///
    /// Throws where the bus is out of reach; then some of them may have been sent.
    func send(_ messages: [NodeMessage]) async throws(StorageFault)

    /// Receives what is sent to everybody and to `node`, until the task is cancelled.
    ///
    /// `receive` is called one event after the other, on any thread, and must not block. A lost connection is replaced
    /// by itself: ``NodeBusEvent/disconnected`` and ``NodeBusEvent/connected`` say between which moments messages are
    /// lost.
    func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async
}

/// One message between servers.
package struct NodeMessage: Hashable, Sendable {
    /// The server it is for; nil for all of them.
    package var recipient: String?
    /// UTF-8 text without U+0000, at most ``largestPayload`` bytes.
    package var payload: [UInt8]

    /// How long a payload may be: a signal of 64 KiB, whatever escapes it needs, and what is around it.
    package static let largestPayload = 512 * 1_024

    package init(to recipient: String? = nil, payload: [UInt8]) {
        self.recipient = recipient
        self.payload = payload
    }
}

/// What a receiver is told.
package enum NodeBusEvent: Hashable, Sendable {
    /// From now on messages arrive.
    case connected
    /// Messages are being lost.
    case disconnected
    /// A message's payload.
    case message([UInt8])
}
