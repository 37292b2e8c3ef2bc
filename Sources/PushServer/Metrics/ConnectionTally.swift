/// Counts of one event loop's connections since the server started, and their present state.
///
/// The counts are plain numbers in the loop's ``LoopContext``, used on that loop only, so that counting a frame costs
/// an addition. They become metrics when a scrape reads them.
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
    /// Bytes of frames, headers included, without TLS and handshakes.
    var bytesReceived = 0
    /// The same for sent frames, counted when they are passed to the channel.
    var bytesSent = 0
    /// Deltas that were written to followers, counted once for each follower.
    var deltasSent = 0
    /// Deltas that were not written to a follower because it did not keep up.
    var deltasLeftOut = 0
    /// Changes of presence and reactions that were written to followers, counted once for each follower.
    var ephemeralSent = 0
    /// Changes of presence and reactions that were not written to a follower because it did not keep up.
    var ephemeralLeftOut = 0
    /// Signals that were written to connections.
    var signalsSent = 0
    /// Snapshots that replaced dropped deltas.
    var collapses = 0
    /// Messages answered `rate_limited`.
    var messagesRateLimited = 0
    /// Connections that were refused because their address has too many.
    var connectionsRefused = 0
    /// Opening handshakes by the status of their answer, which is 101 for accepted ones.
    ///
    /// Statuses that are not in ``knownStatuses`` are counted at 0.
    private(set) var handshakes: [Int: Int] = [:]
    /// Connections that ended, by close code; codes that are not in ``knownCloseCodes`` are counted at 0.
    private(set) var closes: [UInt16: Int] = [:]

    // MARK: How things stand: set, or moved up and down

    /// WebSocket connections on which no close has been sent or received.
    var openConnections = 0
    /// Rooms that connections follow, counted once for each connection.
    var subscriptions = 0
    /// Subscriptions to statistics.
    var statisticsSubscriptions = 0
    /// Bytes that wait to be sent, on all connections together.
    var queuedBytes = 0

    /// Counts the answer to an opening handshake.
    mutating func handshakeAnswered(status: Int) {
        handshakes[Self.knownStatuses.contains(status) ? status : 0, default: 0] += 1
    }

    /// Counts the end of a connection by its close code.
    ///
    /// The code is that of the first Close frame, of either side; 1005 if that had none, or 1006 if the connection was
    /// lost without a Close frame (RFC 6455 §7.1.5). A peer may send any code up to 4999; unknown ones are counted
    /// together.
    mutating func closed(code: UInt16) {
        closes[Self.knownCloseCodes.contains(code) ? code : 0, default: 0] += 1
    }

    /// The statuses that are counted one by one.
    static let knownStatuses = [101, 400, 401, 403, 404, 405, 408, 426, 429, 431, 500, 503]
    /// The close codes that are counted one by one: those of RFC 6455 and this server's own.
    static let knownCloseCodes: [UInt16] = [
        1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 4401, 4403, 4404, 4408, 4429,
    ]

    /// Adds two tallies.
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
        sum.statisticsSubscriptions += other.statisticsSubscriptions
        sum.queuedBytes += other.queuedBytes
        return sum
    }
}

extension ConnectionTally.Frames {
    /// Adds two counts of frames.
    static func + (one: Self, other: Self) -> Self {
        Self(
            text: one.text + other.text, binary: one.binary + other.binary, ping: one.ping + other.ping,
            pong: one.pong + other.pong, close: one.close + other.close)
    }
}
