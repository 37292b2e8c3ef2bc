import NIOCore
import RoomDomain

/// The limit on a member's reactions: five in any second.
struct ReactionLimit {
    static let perSecond = 5
    private static let window = TimeAmount.seconds(1)

    /// The times of each member's newest reactions, oldest first.
    private var recent: [MemberID: [NIODeadline]] = [:]
    private var nextSweep = NIODeadline.uptimeNanoseconds(0)

    /// Counts a reaction that may be shown, and returns nil; otherwise returns the time until the next one may be.
    mutating func take(_ member: MemberID, at now: NIODeadline) -> TimeAmount? {
        sweep(at: now)
        if let times = recent[member], times.count >= Self.perSecond {
            let free = times[times.count - Self.perSecond] + Self.window
            if free > now { return free - now }
        }
        count(member, at: now)
        return nil
    }

    /// Counts a reaction that was shown elsewhere.
    mutating func count(_ member: MemberID, at now: NIODeadline) {
        var times = recent.removeValue(forKey: member) ?? []
        if times.count >= Self.perSecond { times.removeFirst(times.count - Self.perSecond + 1) }
        times.append(now)
        recent[member] = times
    }

    private mutating func sweep(at now: NIODeadline) {
        guard nextSweep <= now else { return }
        nextSweep = now + Self.window
        recent = recent.filter { $0.value.last.map { $0 + Self.window > now } ?? false }
    }
}
