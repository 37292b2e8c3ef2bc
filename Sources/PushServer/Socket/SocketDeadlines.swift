import NIOCore

/// The times at which something is due on one socket: a value without a clock.
struct SocketDeadlines {
    /// How long things may take.
    struct Limits: Equatable {
        /// The time from one ping to the next.
        var ping: TimeAmount
        /// The time after which a peer that sends nothing is closed.
        var silence: TimeAmount
        /// The time after which a peer that takes no output is closed.
        var stall: TimeAmount
        /// The time that a close handshake, and the last answers before a planned stop, may take.
        var close: TimeAmount
    }

    /// What is due.
    enum Step: Equatable {
        /// Nothing, until ``SocketDeadlines/next(readsNothing:)``.
        case wait
        /// Nothing any more.
        case rest
        /// A ping, and the positions of the rooms.
        case ping
        /// The peer sends nothing: its connection is closed.
        case endSilent
        /// The peer takes nothing: its connection is closed.
        case endSlow
        /// The announced stop begins: nothing more is read.
        case leave
        /// The last answers took too long: the connection is closed.
        case endLeaving
        /// The channel is closed.
        case drop
    }

    /// The time for which a peer that broke the protocol must be quiet before its connection is dropped.
    static let lingering = TimeAmount.milliseconds(250)

    let limits: Limits
    /// The time when something of the peer was read last.
    private(set) var lastReceived: NIODeadline
    private var nextPing: NIODeadline
    /// The time since which the peer has taken nothing of its output.
    private var stalledSince: NIODeadline?
    /// The announced time of leaving.
    private var leavesAt: NIODeadline?
    /// The time at which the channel is closed, whatever the peer does.
    private var dropsAt: NIODeadline?
    /// Whether the server is stopping: nothing more is read, and earlier input is finished.
    private(set) var isLeaving = false
    /// Whether the connection has ended for the server, and the peer's further input is read and dropped.
    private(set) var isLingering = false

    init(_ limits: Limits, at now: NIODeadline) {
        self.limits = limits
        lastReceived = now
        nextPing = now + limits.ping
    }

    /// Whether the peer does not take its output.
    var isStalled: Bool { stalledSince != nil }

    // MARK: What happens

    /// Something of the peer was read, or is read from now on.
    mutating func received(at now: NIODeadline) { lastReceived = now }

    /// The peer has taken all of its output.
    mutating func taken() { stalledSince = nil }

    /// The peer has not taken all of its output; returns the time of the next look, unless that was known.
    mutating func stalled(at now: NIODeadline) -> NIODeadline? {
        guard stalledSince == nil else { return nil }
        stalledSince = now
        return now + limits.stall
    }

    /// A planned stop is announced for a time.
    mutating func leaves(at end: NIODeadline) { leavesAt = end }

    /// A close handshake begins, or ends with output that waits; returns the time at which the channel is closed.
    mutating func drops(from now: NIODeadline) -> NIODeadline {
        let end = now + limits.close
        dropsAt = end
        return end
    }

    /// From now on, the peer's input is dropped; returns the time of the next look.
    mutating func lingers(from now: NIODeadline) -> NIODeadline {
        isLingering = true
        return now + Self.lingering
    }

    /// This server read nothing for some time: the peer gets it on top.
    mutating func excuse(_ pause: TimeAmount) {
        lastReceived = lastReceived + pause
        stalledSince = stalledSince.map { $0 + pause }
    }

    // MARK: What is due

    /// The time of the next look; `readsNothing`: reading is put off, and the peer's silence means nothing.
    func next(readsNothing: Bool) -> NIODeadline {
        if isLingering { return lastReceived + Self.lingering }
        if let dropsAt { return dropsAt }
        var next = nextPing
        if !readsNothing { next = min(next, lastReceived + limits.silence) }
        if let stalledSince { next = min(next, stalledSince + limits.stall) }
        if let leavesAt { next = min(next, isLeaving ? leavesAt + limits.close : leavesAt) }
        return next
    }

    /// What is due first; `isClosing`: a close was sent or received.
    mutating func reached(_ now: NIODeadline, isClosing: Bool, readsNothing: Bool) -> Step {
        if let dropsAt {
            return dropsAt <= now || isLingering && lastReceived + Self.lingering <= now ? .drop : .wait
        }
        // The peer's close was answered, so the transport ends by itself.
        if isClosing { return .rest }
        if let stalledSince, stalledSince + limits.stall <= now { return .endSlow }
        if !readsNothing, lastReceived + limits.silence <= now { return .endSilent }
        if let leavesAt, leavesAt <= now, !isLeaving {
            isLeaving = true
            return .leave
        }
        if let leavesAt, leavesAt + limits.close <= now { return .endLeaving }
        guard nextPing <= now else { return .wait }
        nextPing = now + limits.ping
        return .ping
    }
}
