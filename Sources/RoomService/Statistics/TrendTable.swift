import RoomDomain
import RoomWire

/// Somebody who watches what is played across rooms.
struct TrendWatch {
    let id: WatchID
    let asker: Asker
    let query: TrendingQuery
    let sub: Int64
    let deliver: @Sendable (_ watch: WatchID, _ message: [UInt8]) -> Void
    /// What the client was told, as a hash: it is only compared.
    var told: Int
    /// When it is answered next, in milliseconds of the server's clock.
    var due: Double
}

/// Watches of what is played across rooms, and whose turn it is: a value without a clock.
struct TrendTable {
    /// The watches that are due, in the order in which they are answered.
    private struct Line {
        var numbers: [Int] = []
        var next = 0
        var madeAt = -Double.infinity

        /// The time after which it is made anew, in milliseconds: others may have become due meanwhile.
        static let age = 1_000.0
    }

    /// The number of the next watch.
    private(set) var nextWatch = 0
    private(set) var watches: [Int: TrendWatch] = [:]
    private var near = Line()
    private var everywhere = Line()
    /// How many watches each origin has.
    private var counts: [HeavyWorkOrigin: Int] = [:]
    /// The turns in which origins were last answered about rooms near a point.
    private var lastTurns: [HeavyWorkOrigin: Int] = [:]
    private var turn = 0

    mutating func begin(_ watch: TrendWatch) {
        watches[watch.id.number] = watch
        counts[watch.asker.origin, default: 0] += 1
        nextWatch = watch.id.number + 1
    }

    mutating func end(_ number: Int) {
        guard let ended = watches.removeValue(forKey: number) else { return }
        let origin = ended.asker.origin
        let count = (counts[origin] ?? 1) - 1
        counts[origin] = count == 0 ? nil : count
        if count == 0 { lastTurns[origin] = nil }
    }

    /// Notes what a client was told, and when it is answered next.
    mutating func told(_ hash: Int, to number: Int, due: Double) {
        watches[number]?.told = hash
        watches[number]?.due = due
    }

    /// Takes the watch that is answered next, which is due again at `later`; nil if none is due.
    ///
    /// Origins take turns, beginning with the one whose last turn was first, and an origin's watches by how long they
    /// have waited. All watches are looked at once a second at most.
    mutating func take(areNear: Bool, at now: Double, until later: Double) -> TrendWatch? {
        var line = areNear ? near : everywhere
        defer { if areNear { near = line } else { everywhere = line } }
        if line.next == line.numbers.count || now - line.madeAt >= Line.age {
            line = Line(numbers: due(areNear: areNear, at: now), madeAt: now)
        }
        while line.next < line.numbers.count {
            let number = line.numbers[line.next]
            line.next += 1
            guard let watch = watches[number], watch.due <= now, watch.id.delivered.takesMore else { continue }
            watches[number]?.due = later
            if areNear {
                turn += 1
                lastTurns[watch.asker.origin] = turn
            }
            return watch
        }
        return nil
    }

    private func due(areNear: Bool, at now: Double) -> [Int] {
        let due = watches.values.filter { watch in
            (watch.query.place != nil) == areNear && watch.due <= now && watch.id.delivered.takesMore
        }
        func order(_ watch: TrendWatch) -> (Int, Double, Int) {
            (areNear ? lastTurns[watch.asker.origin] ?? 0 : 0, watch.due, watch.id.number)
        }
        let sorted = due.sorted { order($0) < order($1) }
        return (areNear ? sorted.inTurn { CollectionOfOne($0.asker.origin) } : sorted).map(\.id.number)
    }
}
