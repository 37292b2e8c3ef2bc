package import NIOCore

/// The requests of one HTTP/1 connection, one after the other.
///
/// It tracks the request that is being read, the answer that is owed, and the peer's deadlines.
///
/// A machine: its inputs are received bytes, written answers and the time; its outputs are the next steps. One request
/// is in progress at a time; the next one is not looked at before the last byte of the answer has been sent.
package struct HTTPExchange: Equatable {
    /// The limits on a peer's time and bytes.
    package struct Limits: Equatable, Sendable {
        /// The time after which a connection without any activity is closed.
        package var idle: TimeAmount
        /// The time within which a head must end after its first byte.
        package var head: TimeAmount
        /// The time that a body may take from its head, beside the time that what has arrived of it takes at
        /// ``leastRate``.
        package var bodyGrace: TimeAmount
        /// The time after which a peer that takes none of the bytes sent to it is closed.
        package var stall: TimeAmount
        /// The time for which input is still read and dropped before the connection is closed.
        package var linger: TimeAmount
        /// The lowest rate of a body, and of a reader, in bytes a second.
        package var leastRate = 1_024
        /// The bytes that are read and dropped of a body whose request was answered without it, on a connection that
        /// stays open.
        package var unwantedBody: Int
        /// The bytes that are read and dropped after the last answer: a peer reads it only once it has sent what it is
        /// sending.
        package var lastInput = 8 << 20

        package init(
            idle: TimeAmount, head: TimeAmount, bodyGrace: TimeAmount, stall: TimeAmount, linger: TimeAmount,
            unwantedBody: Int
        ) {
            self.idle = idle
            self.head = head
            self.bodyGrace = bodyGrace
            self.stall = stall
            self.linger = linger
            self.unwantedBody = unwantedBody
        }
    }

    /// The next action of the shell.
    package enum Step: Equatable {
        /// Pass the input on.
        case pass
        /// Drop the input.
        case drop
        /// Answer a violation, as the last answer on this connection.
        case refuse(HTTPViolation)
        /// Look at the next request.
        case next
        /// Read and drop input until the peer is quiet: closing a connection with unread bytes would discard the
        /// answer.
        case linger
        /// Close the connection.
        case close
        /// Do nothing.
        case nothing
    }

    private enum Request: Equatable {
        /// No byte of it has arrived.
        case none(since: NIODeadline)
        case head(since: NIODeadline)
        case body(since: NIODeadline, count: Int)
        /// All of it has arrived.
        case read
    }

    private enum Answer: Equatable {
        /// No answer is owed.
        case none
        case owed
        /// Its head has been written.
        case begun
        /// Its end has been written, but not all of it has been sent.
        case written
        /// It has been sent, and its request has not been read to the end.
        case left
    }

    private struct Stall: Equatable {
        var since: NIODeadline
        var credit: Int
    }

    private enum Phase: Equatable {
        case open
        /// The answer to the request in progress is the last one.
        case ending
        case lingering(since: NIODeadline, lastByte: NIODeadline, count: Int)
        /// The connection is closed, or no longer HTTP.
        case over
    }

    /// The time for which a peer must be quiet before it is closed.
    package static let quiet = TimeAmount.milliseconds(250)
    /// The bytes that may lie in the peer's system, acknowledged but not yet read: a reader at the lowest rate shows no
    /// progress until it has read them.
    package static let unseen = 131_072

    private var request: Request
    /// The length of the body that the head has declared; nil if it has not.
    private var declared: Int?
    private var answer = Answer.none
    private var phase = Phase.open
    /// The time since which the peer has shown no progress although bytes wait for it, and how many it had taken just
    /// before.
    private var stalled: Stall?

    /// Makes the exchange of a connection from which nothing has been read.
    package init(at now: NIODeadline) {
        request = .none(since: now)
    }

    // MARK: State

    /// Whether it accepts bytes and parts.
    package var takesInput: Bool { request != .read && (phase == .open || phase == .ending) }
    /// Whether no request is in progress.
    package var isBetweenRequests: Bool {
        if case .none = request { true } else { false }
    }
    /// Whether input is read and dropped.
    package var isLingering: Bool {
        if case .lingering = phase { true } else { false }
    }
    /// Whether the answer to the request in progress is the last one.
    package var isEnding: Bool { phase != .open }
    /// Whether the connection is closed, or no longer HTTP.
    package var isOver: Bool { phase == .over }

    // MARK: Reading

    /// Bytes have arrived.
    package mutating func bytesCame(_ bytes: Int, _ limits: Limits, at now: NIODeadline) -> Step {
        if case .none = request { request = .head(since: now) }
        guard case .lingering(let since, _, let count) = phase else { return .pass }
        phase = .lingering(since: since, lastByte: now, count: count + bytes)
        return count + bytes > limits.lastInput ? .close : .drop
    }

    /// A head has arrived; if `isLast`, the connection ends after the answer to its request.
    ///
    /// `declared` is the length of its body; nil if it is not known.
    package mutating func headCame(isLast: Bool, declared: Int? = 0, at now: NIODeadline) -> Step {
        guard takesInput, answer == .none else { return .drop }
        self.declared = declared
        request = .body(since: now, count: 0)
        answer = .owed
        if isLast { phase = .ending }
        return .pass
    }

    /// A part of a body has arrived.
    package mutating func bodyCame(_ bytes: Int, _ limits: Limits) -> Step {
        guard takesInput, case .body(let since, let count) = request else { return .drop }
        request = .body(since: since, count: count + bytes)
        guard answer == .left || answer == .written else { return .pass }
        guard count + bytes > limits.unwantedBody else { return .pass }
        // The body is no longer wanted, and too much of it has arrived: this request is the last.
        phase = .ending
        return answer == .left ? .linger : .drop
    }

    /// The end of a request has arrived.
    package mutating func endCame(at now: NIODeadline) -> Step {
        guard takesInput, case .body = request else { return .drop }
        request = .read
        return .pass
    }

    /// The input is not a valid request, or took too long.
    package mutating func violated(_ violation: HTTPViolation) -> Step {
        guard phase == .open || phase == .ending else { return .nothing }
        phase = .ending
        switch answer {
        case .none, .owed:
            answer = .written
            return .refuse(violation)
        case .begun:
            return .close
        case .written:
            return .nothing
        case .left:
            return .linger
        }
    }

    /// The connection has been handed over and is no longer HTTP.
    package mutating func handedOver() {
        phase = .over
    }

    // MARK: Answering

    /// The head of an answer is to be written; returns whether it may be.
    ///
    /// It is the last one if too much of the request's body is left to be dropped: `isTooLong` says that of a body whose
    /// length is not known.
    package mutating func answerBegan(isTooLong: Bool = false, _ limits: Limits) -> Bool {
        guard answer == .owed, phase == .open || phase == .ending else { return false }
        answer = .begun
        if case .body = request, declared.map({ $0 > limits.unwantedBody }) ?? isTooLong { phase = .ending }
        return true
    }

    /// Whether an answer is owed and no part of it has been written.
    package var owesAnswer: Bool { answer == .owed && (phase == .open || phase == .ending) }

    /// The end of an answer has been written.
    package mutating func answerEnded() {
        if answer == .begun { answer = .written }
    }

    /// Whether an answer has been written but not completely sent.
    package var isAnswerWritten: Bool { answer == .written }

    /// Everything that was written has been sent.
    package mutating func answerLeft(at now: NIODeadline) -> Step {
        guard answer == .written else { return .nothing }
        stalled = nil
        answer = .left
        guard phase == .open else { return request == .read ? .close : .linger }
        return nextIfDone(at: now)
    }

    /// Returns `next` if the request is complete; call it after an answer has been sent and after the end of a request.
    package mutating func nextIfDone(at now: NIODeadline) -> Step {
        guard answer == .left, request == .read else { return .nothing }
        guard phase == .open else { return .close }
        request = .none(since: now)
        declared = nil
        answer = .none
        return .next
    }

    /// No more answers are to be given on this connection.
    package mutating func askedToEnd() -> Step {
        guard phase == .open || phase == .ending else { return .nothing }
        phase = .ending
        switch answer {
        case .none: return .close
        case .left: return request == .read ? .close : .linger
        case .owed, .begun, .written: return .nothing
        }
    }

    /// Input is dropped from now on.
    package mutating func lingers(at now: NIODeadline) {
        phase = .lingering(since: now, lastByte: now, count: 0)
    }

    /// The connection is closed.
    package mutating func closed() {
        phase = .over
    }

    // MARK: Time

    /// Whether bytes wait for the peer.
    package var isWaiting: Bool { stalled != nil }

    /// Bytes wait for the peer from now on.
    package mutating func waits(at now: NIODeadline) {
        if stalled == nil { stalled = Stall(since: now, credit: 0) }
    }

    /// The peer has taken some of the bytes that wait for it.
    package mutating func progressed(by bytes: Int, at now: NIODeadline) {
        guard stalled != nil else { return }
        stalled = Stall(since: now, credit: min(bytes, Self.unseen))
    }

    /// No bytes wait for the peer any more.
    package mutating func waitsNoMore(at now: NIODeadline) {
        guard stalled != nil else { return }
        stalled = nil
        if case .none = request { request = .none(since: now) }
    }

    /// Extends the deadlines by a time in which the peer was not looked at.
    package mutating func excuse(_ pause: TimeAmount) {
        switch request {
        case .none(let since): request = .none(since: since + pause)
        case .head(let since): request = .head(since: since + pause)
        case .body(let since, let count): request = .body(since: since + pause, count: count)
        case .read: break
        }
        if let stalled { self.stalled = Stall(since: stalled.since + pause, credit: stalled.credit) }
    }

    /// Extends the body's deadline by a time in which nobody read the body.
    package mutating func excuseBody(_ pause: TimeAmount) {
        if case .body(let since, let count) = request { request = .body(since: since + pause, count: count) }
    }

    /// The time of the next check; nil if no deadline of the peer is running.
    package func deadline(_ limits: Limits) -> NIODeadline? {
        switch phase {
        case .over: return nil
        case .lingering(let since, let lastByte, _): return min(lastByte + Self.quiet, since + limits.linger)
        case .open, .ending: break
        }
        let ofRequest: NIODeadline? =
            switch request {
            case .none(let since): stalled == nil ? since + limits.idle : nil
            case .head(let since): since + limits.head
            case .body(let since, let count): since + limits.bodyGrace + limits.time(for: count)
            case .read: nil
            }
        let ofAnswer = stalled.map { limits.end(of: $0.since, credit: $0.credit) }
        guard let ofRequest else { return ofAnswer }
        return ofAnswer.map { min($0, ofRequest) } ?? ofRequest
    }

    /// Returns the step that is due at this time.
    package mutating func timeCame(_ now: NIODeadline, _ limits: Limits) -> Step {
        guard let deadline = deadline(limits), deadline <= now else { return .nothing }
        guard phase == .open || phase == .ending else { return .close }
        if let stalled, limits.end(of: stalled.since, credit: stalled.credit) <= now { return .close }
        switch request {
        case .none, .read: return .close
        case .head: return violated(.headTooSlow)
        case .body:
            // The rest of the body is no longer waited for; an answer that is being sent has its own deadline.
            guard answer == .written else { return violated(.bodyTooSlow) }
            phase = .ending
            request = .read
            return .nothing
        }
    }
}

extension HTTPExchange.Limits {
    /// The time that `bytes` bytes take at the lowest rate.
    fileprivate func time(for bytes: Int) -> TimeAmount {
        .nanoseconds(Int64(bytes) * (1_000_000_000 / Int64(leastRate)))
    }

    /// The deadline of a peer that shows no progress and may still have `credit` bytes to read.
    fileprivate func end(of stall: NIODeadline, credit: Int) -> NIODeadline {
        stall + self.stall + min(time(for: credit), .nanoseconds(self.stall.nanoseconds * 4))
    }
}
