/// What one event loop's connections have done since the server started, and how they stand.
///
/// Plain numbers, kept by the loop's ``LoopContext`` and touched on that loop only, so that counting a frame costs an
/// addition: metrics are made of them when somebody comes to read them.
struct ConnectionTally: Sendable, Equatable {
    /// Messages and control frames by opcode (RFC 6455 §5.2); the fragments of a message count as one.
    struct Frames: Sendable, Equatable {
        var text = 0
        var binary = 0
        var ping = 0
        var pong = 0
        var close = 0
    }

    // MARK: What was done: these only grow

    var framesReceived = Frames()
    var framesSent = Frames()
    /// Bytes of frames, headers included; of TLS and of handshakes nothing.
    var bytesReceived = 0
    /// The same, when they are handed to the channel.
    var bytesSent = 0
    /// Deltas that were written to followers: one each.
    var deltasSent = 0
    /// Deltas that were not written to a follower because it did not keep up.
    var deltasLeftOut = 0
    /// Changes of presence and reactions that were written to followers: one each.
    var ephemeralSent = 0
    /// Changes of presence and reactions that were not written to a follower because it did not keep up.
    var ephemeralLeftOut = 0
    /// Signals that were written to connections.
    var signalsSent = 0
    /// Snapshots that took the place of what was left out.
    var collapses = 0
    /// Messages answered `rate_limited`.
    var messagesRateLimited = 0
    /// Connections that were not taken because their address has too many.
    var connectionsRefused = 0
    /// Opening handshakes by the status that answered them: 101 where it was accepted; those that are not listed in
    /// ``knownStatuses`` are at 0.
    private(set) var handshakes: [Int: Int] = [:]
    /// Connections that ended, by close code; those that are not listed in ``knownCloseCodes`` are at 0.
    private(set) var closes: [UInt16: Int] = [:]

    // MARK: How things stand: set, or moved up and down

    /// WebSocket connections on which no close has been sent or received.
    var openConnections = 0
    /// Rooms that connections follow, counted once for each connection.
    var subscriptions = 0
    /// Bytes that wait to be sent, of all connections together.
    var queuedBytes = 0

    /// Notes the answer to an opening handshake.
    mutating func handshakeAnswered(status: Int) {
        handshakes[Self.knownStatuses.contains(status) ? status : 0, default: 0] += 1
    }

    /// Notes the end of a connection: with the code of the first Close frame, whoever sent it, 1005 where that had
    /// none, or 1006 where the connection was lost without any (RFC 6455 §7.1.5).
    ///
    /// A peer may send any code up to 4999; those that mean nothing here are counted together.
    mutating func closed(code: UInt16) {
        closes[Self.knownCloseCodes.contains(code) ? code : 0, default: 0] += 1
    }

    /// Statuses that are counted one by one.
    static let knownStatuses = [101, 400, 401, 403, 404, 405, 408, 426, 429, 431, 500, 503]
    /// Close codes that are counted one by one: those of RFC 6455 and this server's own.
    static let knownCloseCodes: [UInt16] = [
        1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 4401, 4403, 4404, 4408, 4429,
    ]

    /// Both together.
    static func + (one: ConnectionTally, other: ConnectionTally) -> ConnectionTally {
        var sum = one
        sum.framesReceived = one.framesReceived + other.framesReceived
        sum.framesSent = one.framesSent + other.framesSent
        sum.bytesReceived += other.bytesReceived
        sum.bytesSent += other.bytesSent
        sum.deltasSent += other.deltasSent
        sum.deltasLeftOut += other.deltasLeftOut
        sum.ephemeralSent += other.ephemeralSent
        sum.ephemeralLeftOut += other.ephemeralLeftOut
        sum.signalsSent += other.signalsSent
        sum.collapses += other.collapses
        sum.messagesRateLimited += other.messagesRateLimited
        sum.connectionsRefused += other.connectionsRefused
        sum.handshakes.merge(other.handshakes, uniquingKeysWith: +)
        sum.closes.merge(other.closes, uniquingKeysWith: +)
        sum.openConnections += other.openConnections
        sum.subscriptions += other.subscriptions
        sum.queuedBytes += other.queuedBytes
        return sum
    }
}

extension ConnectionTally.Frames {
    /// Both together.
    static func + (one: Self, other: Self) -> Self {
        Self(
            text: one.text + other.text, binary: one.binary + other.binary, ping: one.ping + other.ping,
            pong: one.pong + other.pong, close: one.close + other.close)
    }
}
