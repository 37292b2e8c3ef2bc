/// When the client connects: one attempt at a time, with waits that are drawn at random and grow.
///
/// An attempt has a number, and what happens to an earlier one is ignored. The shell waits and then opens a socket; a
/// newer attempt replaces one that waits or opens.
package struct Connecting: Sendable, Equatable {
    /// The longest wait between two attempts.
    static let longestWaitMs: Int64 = 20_000
    /// The longest first wait; each failure doubles it.
    static let firstWaitMs: Int64 = 250
    /// A connection that was open for so long ends a row of failures.
    static let stableMs: Int64 = 30_000

    package enum Step: Equatable, Sendable {
        /// Open a socket after a wait; replaces an attempt that is not open yet.
        case connect(attempt: Int, afterMs: Int64)
        /// Close the socket of an attempt, or give the attempt up.
        case close(attempt: Int, code: UInt16)
    }

    private enum State: Equatable, Sendable {
        /// Nothing connects: before the start, after a stop, and for ever after the session has ended.
        case off
        /// The shell waits, or opens a socket.
        case connecting(Int)
        case open(Int, since: ClientInstant)
    }

    private var state = State.off
    private var attempts = 0
    /// Failures in a row; the next wait is up to 250 ms × 2ⁿ.
    private var failures = 0
    /// The server has told when the connection ends, and has spread these moments: no further wait is needed.
    private var isGoingAway = false

    package init() {}

    /// Whether a socket is open.
    package var isOpen: Bool { if case .open = state { true } else { false } }

    /// Whether nothing connects.
    package var isOff: Bool { state == .off }

    /// The attempt under way or open; nil if nothing connects.
    package var attempt: Int? {
        switch state {
        case .off: nil
        case .connecting(let attempt), .open(let attempt, _): attempt
        }
    }

    /// Connects at once; nothing if that has begun already.
    package mutating func start() -> [Step] {
        guard isOff else { return [] }
        failures = 0
        return [connect(afterMs: 0)]
    }

    /// The socket of an attempt is open; false for an attempt that no longer counts.
    package mutating func opened(_ attempt: Int, at now: ClientInstant) -> Bool {
        guard state == .connecting(attempt) else { return false }
        state = .open(attempt, since: now)
        isGoingAway = false
        return true
    }

    /// An attempt has failed, or its connection was lost; the next one comes after `leastMs` at the earliest.
    ///
    /// Returns nil for an attempt that no longer counts.
    package mutating func lost(
        _ attempt: Int, at now: ClientMoment, leastMs: Int64 = 0
    ) -> [Step]? {
        switch state {
        case .off: return nil
        case .connecting(let current):
            guard attempt == current else { return nil }
        case .open(let current, let since):
            guard attempt == current else { return nil }
            if since.advanced(byMs: Self.stableMs) <= now.instant { failures = 0 }
        }
        return [connect(afterMs: max(min(leastMs, ClientMoment.longestAskedMs), nextWait(now)))]
    }

    /// The connection is dead, as silence tells: closes it, and connects, at once if somebody waits for it.
    package mutating func replace(at now: ClientMoment, atOnce: Bool) -> [Step] {
        guard let attempt else { return [] }
        var steps: [Step] = [.close(attempt: attempt, code: 1_001)]
        if atOnce {
            steps.append(connect(afterMs: 0))
        } else {
            steps += lost(attempt, at: now) ?? []
        }
        return steps
    }

    /// The server is about to close the connection, which is used until then.
    package mutating func goingAway() { isGoingAway = isOpen }

    /// The app or the network is back: an attempt that waits or hangs is replaced by one that begins within 250 ms.
    package mutating func wake(at now: ClientMoment) -> [Step] {
        guard case .connecting = state else { return [] }
        failures = 0
        return [connect(afterMs: now.jitter(upToMs: Self.firstWaitMs))]
    }

    /// Nothing connects any more, until a ``start()``.
    package mutating func stop(code: UInt16) -> [Step] {
        guard let attempt else { return [] }
        state = .off
        return [.close(attempt: attempt, code: code)]
    }

    private mutating func connect(afterMs wait: Int64) -> Step {
        attempts += 1
        state = .connecting(attempts)
        return .connect(attempt: attempts, afterMs: wait)
    }

    /// Full jitter: 0 … min(20 s, 250 ms × 2ⁿ); none after a `goaway`.
    private mutating func nextWait(_ now: ClientMoment) -> Int64 {
        guard !isGoingAway else {
            isGoingAway = false
            return 0
        }
        defer { failures += 1 }
        let limit = failures < 7 ? Self.firstWaitMs << Int64(failures) : Self.longestWaitMs
        return now.jitter(upToMs: min(limit, Self.longestWaitMs))
    }
}
