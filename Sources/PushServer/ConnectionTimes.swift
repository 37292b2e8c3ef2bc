package import NIOCore

/// The times that a connection may take.
package struct ConnectionTimes: Sendable {
    /// The time within which a connection must complete TLS and the head of its first request; later it is closed.
    package var handshakeTimeout = TimeAmount.seconds(10)
    /// The time after which an idle HTTP connection is closed.
    package var httpIdleTimeout = TimeAmount.seconds(130)
    /// The time that a request's body may take, beside a second for each KiB of it that has arrived.
    package var bodyGrace = TimeAmount.seconds(10)
    /// The interval of pings and beats.
    package var pingInterval = TimeAmount.seconds(25)
    /// The time after which a socket that has sent nothing is closed with 4408.
    package var silenceLimit = TimeAmount.seconds(60)
    /// The time after which a peer that takes nothing is disconnected; a socket is closed with 1013.
    package var stallLimit = TimeAmount.seconds(30)
    /// The time that a socket may take to answer a close.
    package var closeTimeout = TimeAmount.seconds(5)
}
