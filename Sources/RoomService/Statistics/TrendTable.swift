import RoomDomain
import RoomWire

/// Somebody who watches what is played across rooms.
struct TrendWatch {
    let id: WatchID
    let session: SessionID
    let query: TrendingQuery
    let sub: Int64
    let deliver: @Sendable (_ watch: WatchID, _ message: [UInt8]) -> Void
    /// What the client was told.
    var songs: [RankedSong]
    /// When it is answered next, in milliseconds of the server's clock.
    var due: Double
}

/// Watches of what is played across rooms, and whose turn it is: a value without a clock.
struct TrendTable {
    var nextWatch = 0
    var watches: [Int: TrendWatch] = [:]
    /// The turns in which sessions were last answered about rooms near a point.
    private var lastTurns: [SessionID: Int] = [:]
    private var turn = 0

    mutating func end(_ number: Int) {
        guard let ended = watches.removeValue(forKey: number) else { return }
        if lastTurns[ended.session] != nil, !watches.values.contains(where: { $0.session == ended.session }) {
            lastTurns[ended.session] = nil
        }
    }

    /// Takes the watch that is answered next, which is due again at `later`: of the session whose last turn was first,
    /// the one that has waited longest; nil if none is due.
    mutating func take(areNear: Bool, at now: Double, until later: Double) -> TrendWatch? {
        let due = watches.values.filter { watch in
            (watch.query.place != nil) == areNear && watch.due <= now && watch.id.delivered.takesMore
        }
        let next = due.min { left, right in
            (areNear ? lastTurns[left.session] ?? 0 : 0, left.due, left.id.number)
                < (areNear ? lastTurns[right.session] ?? 0 : 0, right.due, right.id.number)
        }
        guard let next else { return nil }
        watches[next.id.number]?.due = later
        if areNear {
            turn += 1
            lastTurns[next.session] = turn
        }
        return next
    }
}
