import RoomDomain
import RoomStatistics

/// What this server sees of a room's listeners, by the minute: a value without a clock.
///
/// Minutes have absolute values, so that writing one twice changes nothing.
struct AudienceTally {
    /// One minute so far.
    struct Minute: Equatable {
        /// The most members that were online here at once.
        var peak = 0
        /// The time for which members were online here while a song was on air, all together, in milliseconds.
        var listenedMs: Int64 = 0
    }

    /// The minutes that were not taken since they ended, by minutes since the Unix epoch.
    private(set) var minutes: [Int: Minute] = [:]
    /// The members that are online here, and whether a song is on air, since an instant.
    private var online = 0
    private var isPlaying = false
    private var since = Timestamp(milliseconds: 0)

    /// Records who is online from `now` on; returns whether there is something to take from now on, and was not before.
    mutating func note(online: Int, isPlaying: Bool, at now: Timestamp) -> Bool {
        let wasQuiet = isQuiet
        advance(to: now)
        (self.online, self.isPlaying) = (online, isPlaying)
        if online > 0 { see(online, in: RoomTally.minute(of: now)) }
        return wasQuiet && !isQuiet
    }

    /// Whether nobody is online, and nothing is left to take.
    var isQuiet: Bool { online == 0 && minutes.isEmpty }

    /// Returns all minutes that are not empty, and forgets those that are over.
    mutating func take(at now: Timestamp) -> [Int: Minute] {
        advance(to: now)
        let present = RoomTally.minute(of: now)
        let taken = minutes
        minutes = minutes.filter { $0.key >= present }
        return taken
    }

    /// The longest stretch that is counted at once, in milliseconds: rooms are asked once a minute, and a machine that
    /// slept has heard nothing.
    private static let longest: Int64 = 150_000

    private mutating func advance(to now: Timestamp) {
        defer { since = max(since, now) }
        guard online > 0, since < now, now.milliseconds - since.milliseconds <= Self.longest else { return }
        var start = since
        while start < now {
            let minute = RoomTally.minute(of: start)
            let end = min(now, Timestamp(milliseconds: Int64(minute + 1) * 60_000))
            guard end > start else { return }
            see(online, in: minute)
            if isPlaying {
                minutes[minute]?.listenedMs += Int64(online) * (end.milliseconds - start.milliseconds)
            }
            start = end
        }
    }

    private mutating func see(_ online: Int, in minute: Int) {
        minutes[minute, default: Minute()].peak = max(minutes[minute]?.peak ?? 0, online)
    }
}
