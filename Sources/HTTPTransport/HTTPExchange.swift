package import NIOCore

/// The requests of one HTTP/1 connection, one after the other: what is being read, what is owed, and when the peer's
/// patience is at its end.
///
/// A machine: it is told what came, what was answered and what the time is, and says what to do. One request is in
/// progress at a time; the next one is not looked at before the last byte of the answer to it has left.
package struct HTTPExchange: Equatable {
    /// How long a peer may take, and how much it may send.
    package struct Limits: Equatable, Sendable {
        /// A connection on which nothing happens is closed after this.
        package var idle: TimeAmount
        /// A head must have ended so long after its first byte.
        package var head: TimeAmount
        /// For so long a body may come as slowly as it likes; then its average since its head must be ``leastRate``.
        package var bodyGrace: TimeAmount
        /// A peer that takes nothing of what it is sent is closed after this.
        package var stall: TimeAmount
        /// How long what a peer still sends is read and dropped before its connection is closed.
        package var linger: TimeAmount
        /// The least rate of a body, and of a reader, in bytes a second.
        package var leastRate = 1_024
        /// So many bytes are read and dropped of a body whose request has been answered without it, and of what comes
        /// after the last answer.
        package var unwantedBody: Int

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

    /// What is to be done.
    package enum Step: Equatable {
        /// Hand it on.
        case pass
        /// Drop it.
        case drop
        /// Answer a violation, as the last thing on this connection.
        case refuse(HTTPViolation)
        /// Look at the next request.
        case next
        /// Read and drop what the peer still sends, until it is quiet: closed with unread bytes in it, the connection
        /// would take the answer away again.
        case linger
        /// Close the connection.
        case close
        /// Nothing.
        case nothing
    }

    private enum Request: Equatable {
        /// Nothing of it has come.
        case none(since: NIODeadline)
        case head(since: NIODeadline)
        case body(since: NIODeadline, count: Int)
        /// All of it has come.
        case read
    }

    private enum Answer: Equatable {
        /// Nobody waits for one.
        case none
        case owed
        /// Its head has been written.
        case begun
        /// Its end has been written, and not all of it has left.
        case written
        /// It has left, and its request has not been read to the end.
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
        /// Closed, or handed to what is no HTTP.
        case over
    }

    /// How long a peer that is to be closed must be quiet.
    package static let quiet = TimeAmount.milliseconds(250)
    /// So many bytes may lie in the peer's system, acknowledged, before whoever reads there: at the least rate it shows no
    /// progress until it has taken them.
    package static let unseen = 131_072

    private var request: Request
    private var answer = Answer.none
    private var phase = Phase.open
    /// Since when the peer has shown no progress while bytes wait for it, and how many it had taken just before.
    private var stalled: Stall?

    /// A connection of which nothing has been read.
    package init(at now: NIODeadline) {
        request = .none(since: now)
    }

    // MARK: What is asked of it

    /// Whether bytes and parts may be handed to it.
    package var takesInput: Bool { request != .read && (phase == .open || phase == .ending) }
    /// Whether no request is in progress.
    package var isBetweenRequests: Bool {
        if case .none = request { true } else { false }
    }
    /// Whether what arrives is read and dropped.
    package var isLingering: Bool {
        if case .lingering = phase { true } else { false }
    }
    /// Whether the answer to the request in progress is the last one.
    package var isEnding: Bool { phase != .open }
    /// Whether it is closed, or handed to what is no HTTP.
    package var isOver: Bool { phase == .over }

    // MARK: Reading

    /// Bytes came.
    package mutating func bytesCame(_ bytes: Int, _ limits: Limits, at now: NIODeadline) -> Step {
        if case .none = request { request = .head(since: now) }
        guard case .lingering(let since, _, let count) = phase else { return .pass }
        phase = .lingering(since: since, lastByte: now, count: count + bytes)
        return count + bytes > limits.unwantedBody ? .close : .drop
    }

    /// A head came; after the answer to its request the connection ends where `isLast` says so.
    package mutating func headCame(isLast: Bool, at now: NIODeadline) -> Step {
        guard takesInput, answer == .none else { return .drop }
        request = .body(since: now, count: 0)
        answer = .owed
        if isLast { phase = .ending }
        return .pass
    }

    /// A part of a body came.
    package mutating func bodyCame(_ bytes: Int, _ limits: Limits) -> Step {
        guard takesInput, case .body(let since, let count) = request else { return .drop }
        request = .body(since: since, count: count + bytes)
        guard answer == .left || answer == .written else { return .pass }
        guard count + bytes > limits.unwantedBody else { return .pass }
        // Nobody wants it: more is not read than was answered for.
        phase = .ending
        return answer == .left ? .linger : .drop
    }

    /// The end of a request came.
    package mutating func endCame(at now: NIODeadline) -> Step {
        guard takesInput, case .body = request else { return .drop }
        request = .read
        return .pass
    }

    /// What came is no request, or took too long.
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

    /// The connection is handed to what is no HTTP.
    package mutating func handedOver() {
        phase = .over
    }

    // MARK: Answering

    /// Whether the head of an answer may be written now.
    package mutating func answerBegan() -> Bool {
        guard answer == .owed, phase == .open || phase == .ending else { return false }
        answer = .begun
        return true
    }

    /// Whether an answer is owed of which nothing was written.
    package var owesAnswer: Bool { answer == .owed && (phase == .open || phase == .ending) }

    /// The end of an answer was written.
    package mutating func answerEnded() {
        if answer == .begun { answer = .written }
    }

    /// Whether an answer has been written of which not all has left.
    package var isAnswerWritten: Bool { answer == .written }

    /// All that was written has left.
    package mutating func answerLeft(at now: NIODeadline) -> Step {
        guard answer == .written else { return .nothing }
        stalled = nil
        answer = .left
        guard phase == .open else { return request == .read ? .close : .linger }
        return nextIfDone(at: now)
    }

    /// Whether the request is done with; call after an answer has left and after the end of a request.
    package mutating func nextIfDone(at now: NIODeadline) -> Step {
        guard answer == .left, request == .read else { return .nothing }
        guard phase == .open else { return .close }
        request = .none(since: now)
        answer = .none
        return .next
    }

    /// Nothing more is to be answered on this connection.
    package mutating func askedToEnd() -> Step {
        guard phase == .open || phase == .ending else { return .nothing }
        phase = .ending
        switch answer {
        case .none: return .close
        case .left: return request == .read ? .close : .linger
        case .owed, .begun, .written: return .nothing
        }
    }

    /// What the peer still sends is dropped from now on.
    package mutating func lingers(at now: NIODeadline) {
        phase = .lingering(since: now, lastByte: now, count: 0)
    }

    /// The connection is gone.
    package mutating func closed() {
        phase = .over
    }

    // MARK: Time

    /// Whether bytes wait for the peer.
    package var isWaiting: Bool { stalled != nil }

    /// Bytes wait for the peer.
    package mutating func waits(at now: NIODeadline) {
        if stalled == nil { stalled = Stall(since: now, credit: 0) }
    }

    /// The peer has taken bytes for which it was waited.
    package mutating func progressed(by bytes: Int, at now: NIODeadline) {
        guard stalled != nil else { return }
        stalled = Stall(since: now, credit: min(bytes, Self.unseen))
    }

    /// Nothing waits for the peer any more.
    package mutating func waitsNoMore(at now: NIODeadline) {
        guard stalled != nil else { return }
        stalled = nil
        if case .none = request { request = .none(since: now) }
    }

    /// Forgives the peer a time in which it was not looked at.
    package mutating func excuse(_ pause: TimeAmount) {
        switch request {
        case .none(let since): request = .none(since: since + pause)
        case .head(let since): request = .head(since: since + pause)
        case .body(let since, let count): request = .body(since: since + pause, count: count)
        case .read: break
        }
        if let stalled { self.stalled = Stall(since: stalled.since + pause, credit: stalled.credit) }
    }

    /// Forgives the peer a time in which nobody asked for its body.
    package mutating func excuseBody(_ pause: TimeAmount) {
        if case .body(let since, let count) = request { request = .body(since: since + pause, count: count) }
    }

    /// When there may be something to do; nil where the peer has nothing to do that takes time.
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

    /// What to do at this time.
    package mutating func timeCame(_ now: NIODeadline, _ limits: Limits) -> Step {
        guard let deadline = deadline(limits), deadline <= now else { return .nothing }
        guard phase == .open || phase == .ending else { return .close }
        if let stalled, limits.end(of: stalled.since, credit: stalled.credit) <= now { return .close }
        switch request {
        case .none, .read: return .close
        case .head: return violated(.headTooSlow)
        case .body:
            // What is left of it is waited for no longer; an answer that waits has its own time.
            guard answer == .written else { return violated(.bodyTooSlow) }
            phase = .ending
            request = .read
            return .nothing
        }
    }
}

extension HTTPExchange.Limits {
    /// How long so many bytes take at the least rate.
    fileprivate func time(for bytes: Int) -> TimeAmount {
        .nanoseconds(Int64(bytes) * (1_000_000_000 / Int64(leastRate)))
    }

    /// Until when a peer that shows no progress is waited for: it may still have `credit` bytes to read.
    fileprivate func end(of stall: NIODeadline, credit: Int) -> NIODeadline {
        stall + self.stall + min(time(for: credit), .nanoseconds(self.stall.nanoseconds * 4))
    }
}
