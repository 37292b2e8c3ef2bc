package import RoomDomain

/// The server's clock, by exchanges with it.
///
/// A burst is eight exchanges, one after the other; the one with the least delay counts. Half of that delay bounds the
/// error. While nobody hears a song, no time is needed to the millisecond, and a burst would wake the device sixteen
/// times: then the server's beats, which arrive anyway, show whether the estimate still holds.
package struct ClockSync: Sendable, Equatable {
    /// The exchanges in a burst.
    static let burst = 8
    /// The time between the beginnings of two bursts while somebody hears a song.
    static let playingMs: Int64 = 10_000
    /// The least time between two bursts else.
    static let idleMs: Int64 = 60_000
    /// How late a beat may be, beside the error of the estimate, before it contradicts it, in milliseconds.
    ///
    /// A radio that sleeps may bring it a second late, every time.
    static let beatLatenessMs = 2_000.0

    /// The longest exchange that counts.
    private static let longestMs = 600_000.0

    /// The difference between two clocks in milliseconds, and by how much it may be wrong; nil: nobody can say.
    private struct Estimate: Sendable, Equatable {
        var offset: Double
        var error: Double?
    }

    private var estimate: Estimate?
    /// What the exchange of the burst with the least delay says.
    private var best: Estimate?
    private var left = 0
    private var asked: Int64?
    private var began: ClientInstant?

    package init() {}

    /// The server's time; nil before the server has told any.
    package func time(at now: ClientInstant) -> Timestamp? {
        guard let estimate else { return nil }
        // A server's numbers may be beyond all times.
        return Int64(exactly: (now.milliseconds + estimate.offset).rounded(.down)).map { Timestamp(milliseconds: $0) }
    }

    /// By how much ``time(at:)`` may be wrong, in milliseconds; nil before a burst.
    package var errorMs: Double? { estimate?.error }

    /// A time that the server has just sent: a first estimate, which no burst of an earlier connection gives way to.
    package mutating func hint(_ time: Timestamp, at now: ClientInstant) {
        guard estimate?.error == nil else { return }
        estimate = Estimate(offset: Double(time.milliseconds) - now.milliseconds, error: nil)
    }

    /// Begins a burst: the first exchange is sent under `id`.
    package mutating func begin(id: Int64, at now: ClientInstant) {
        (left, best, began, asked) = (Self.burst, nil, now, id)
    }

    /// Begins no burst until the next ``begin(id:at:)``: there is no connection, or nobody looks.
    package mutating func stop() { (left, asked, began) = (0, nil, nil) }

    /// The beginning of the next burst; nil after ``stop()``, and while nobody hears a song once a burst is over.
    package func due(isPlaying: Bool) -> ClientInstant? {
        guard isPlaying || left > 0 else { return nil }
        return began?.advanced(byMs: isPlaying ? Self.playingMs : Self.idleMs)
    }

    /// Whether a burst has to begin, because the server's time in a beat is not that of the estimate.
    ///
    /// A beat is on its way for a while, but never arrives before it was sent.
    package func isContradicted(byBeat time: Timestamp, at now: ClientInstant) -> Bool {
        guard let began, began.advanced(byMs: Self.idleMs) <= now, let estimate, let error = estimate.error else {
            return false
        }
        let lateness = now.milliseconds + estimate.offset - Double(time.milliseconds)
        return lateness < -error || lateness > error + Self.beatLatenessMs
    }

    /// The answer to an exchange; whether another one is needed, which ``asks(_:)`` is told about.
    package mutating func take(
        _ re: Int64?, t1: Double, t2: Double, t3: Double, at now: ClientInstant
    ) -> Bool {
        let t4 = now.milliseconds
        // A server's numbers may be beyond all times: then the answer counts as none.
        guard left > 0, re == asked, (0...Self.longestMs).contains(t4 - t1), t2 <= t3 else { return false }
        let error = max(0, t4 - t1 - (t3 - t2)) / 2
        if error < best?.error ?? .infinity { best = Estimate(offset: (t2 - t1 + (t3 - t4)) / 2, error: error) }
        left -= 1
        asked = nil
        if left == 0, let best { estimate = best }
        return left > 0
    }

    /// The next exchange of the burst was sent under `id`.
    package mutating func asks(_ id: Int64) { asked = id }
}
