/// Carries messages between the servers on one log that are too small or too short-lived for the log: streams that
/// moved, members online, relayed data.
///
/// Messages may be lost, late, or returned to their sender; no server's correctness may depend on them. Messages of one
/// sender to one recipient keep their order.
package protocol NodeBus: Sendable {
    /// Sends messages, in order; when this returns, they are on their way.
    ///
    /// Throws if the bus is unreachable; some of the messages may then have been sent.
    func send(_ messages: [NodeMessage]) async throws(StorageFault)

    /// Receives messages to all servers and to `node`, until the task is cancelled.
    ///
    /// `receive` is called with one event after the other, on any thread, and must not block. The bus replaces a lost
    /// connection by itself; messages are lost between ``NodeBusEvent/disconnected`` and ``NodeBusEvent/connected``.
    func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async
}

/// One message between servers.
package struct NodeMessage: Hashable, Sendable {
    /// The server that receives it; nil for all servers.
    package var recipient: String?
    /// UTF-8 text without U+0000, at most ``largestPayload`` bytes.
    package var payload: [UInt8]

    /// The largest payload in bytes: a signal of 64 KiB with all escapes that it can need, and its envelope.
    package static let largestPayload = 512 * 1_024

    package init(to recipient: String? = nil, payload: [UInt8]) {
        self.recipient = recipient
        self.payload = payload
    }
}

/// An event for a receiver on a bus.
package enum NodeBusEvent: Hashable, Sendable {
    /// From now on messages arrive.
    case connected
    /// Messages are being lost.
    case disconnected
    /// A message's payload.
    case message([UInt8])
}
