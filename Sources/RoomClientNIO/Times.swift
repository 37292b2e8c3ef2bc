import NIOCore

/// How long the transport waits.
struct Times: Sendable {
    /// For a connection, with name resolution and without TLS.
    var connect = TimeAmount.seconds(10)
    /// For an answer, from the call on.
    var request = TimeAmount.seconds(30)
    /// For an open WebSocket, from the call on.
    var opening = TimeAmount.seconds(20)
    /// For the server's answer to a Close frame.
    var close = TimeAmount.seconds(2)
    /// For a server that does not take the end of what was sent.
    var closeTLS = TimeAmount.seconds(1)
    /// For the next request on a connection.
    var idle = TimeAmount.seconds(5)
}
