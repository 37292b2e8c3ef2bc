import EventStorage
import RoomDomain
import RoomStatistics
import RoomWire

/// What those who watch a room's counts are told.
package enum CountNews: Sendable {
    /// A text message.
    case message([UInt8])
    /// The watch has ended.
    case ended(RoomFailure)
}

/// Somebody who watches a room's counts.
struct CountWatch {
    let id: WatchID
    let asker: Asker
    let offset: Int
    let sub: Int64
    let deliver: @Sendable (_ watch: WatchID, _ news: CountNews) -> Void
    /// The counts that the client was told.
    var position: Position
    /// The first minute of the day that the client was told.
    var day: Int

    func isDue(_ counted: Position, at present: Int) -> Bool {
        (position != counted || day != RecentCounts.day(of: present, offset)) && id.delivered.takesMore
    }
}

/// A room with watchers.
struct WatchedRoom {
    /// The counts that were read last, and their position.
    var position: Position
    var minutes: [Int: EventCounts]
    var watches: [Int: CountWatch] = [:]
    /// When watchers were last told, in milliseconds of the server's clock.
    var toldAt = 0.0
}

/// Rooms that are watched: a value without a clock.
struct CountTable {
    var nextWatch = 0
    var rooms: [RoomID: WatchedRoom] = [:]
    var roomOfWatch: [Int: RoomID] = [:]
}

/// What is counted of a room in the last 24 hours.
struct RecentCounts {
    /// The minutes of which watchers are told.
    static let minutesShown = 60
    /// The minutes that are read: the longest day so far.
    static let minutesRead = 1_440

    var position: Position
    var minutes: [Int: EventCounts]
    /// The minute in which they were read.
    var present: Int

    /// The last minute that is too old.
    var dayBefore: Int { present - Self.minutesRead }

    /// The first minute of the last hour.
    var firstShown: Int { present - Self.minutesShown + 1 }

    /// Whether a client was told later counts, because it began to watch after these were read.
    ///
    /// A room that is to be forgotten goes back to 0.
    func isOlder(than told: Position) -> Bool {
        told.epoch == position.epoch && told.seq > position.seq && position.seq > 0
    }

    /// The first minute of the day at an offset from UTC.
    static func day(of minute: Int, _ offset: Int) -> Int { minute - (minute + offset).modulo(1_440) }

    /// What is shown to a watcher: those minutes of the last hour that are among `some`; nil: all.
    func shown(_ some: Set<Int>?, offset: Int) -> RoomCounts {
        let day = Self.day(of: present, offset)
        let today = minutes.reduce(into: EventCounts()) { if $1.key >= day { $0 += $1.value } }
        let shown = (some ?? Set(minutes.keys)).filter { $0 >= firstShown }.sorted()
        return RoomCounts(
            position: position,
            minutes: shown.map { StatisticsBucket(minutes[$0] ?? EventCounts(), at: $0) },
            today: StatisticsBucket(today, at: day))
    }
}

/// A room of which somebody is to be told.
struct DueRoom {
    let room: RoomID
    /// From where those are who wait for that.
    let origins: Set<HeavyWorkOrigin>
    /// When watchers of the room were last told, in milliseconds of the server's clock.
    let toldAt: Double

    /// The order in which watchers are told: of all origins in turn, and of one origin's rooms first the one that was told
    /// longest ago.
    static func inTurn(_ due: [DueRoom]) -> [RoomID] {
        due.sorted { ($0.toldAt, $0.room.uuid) < ($1.toldAt, $1.room.uuid) }.inTurn(by: \.origins).map(\.room)
    }
}

extension CountTable {
    /// The least time between two messages about one room, in milliseconds of the server's clock.
    private static let betweenMessages = 1_000.0

    /// Who is to be told of a room that is counted to a position; nil if nobody is yet.
    func due(_ room: RoomID, countedTo position: Position, at present: Int, now: Double) -> DueRoom? {
        guard let watched = rooms[room], now - watched.toldAt >= Self.betweenMessages else { return nil }
        let origins = watched.watches.values.reduce(into: Set()) { origins, watch in
            if watch.isDue(position, at: present) { origins.insert(watch.asker.origin) }
        }
        return origins.isEmpty ? nil : DueRoom(room: room, origins: origins, toldAt: watched.toldAt)
    }

    mutating func end(_ number: Int) {
        guard let room = roomOfWatch.removeValue(forKey: number) else { return }
        rooms[room]?.watches[number] = nil
        if rooms[room]?.watches.isEmpty == true { rooms[room] = nil }
    }
}

extension WatchedRoom {
    /// About the bytes of a message, as they count while it is on its way.
    private static let sizeOfMessage = 512

    /// Who is told of new counts: those who take a message, and whether each is told all.
    struct Turn {
        /// The minutes that have changed.
        var changed: Set<Int>
        var watches: [(watch: CountWatch, isWhole: Bool)] = []
    }

    /// Takes new counts; the messages are made by whoever calls this, because event loops wait for the lock.
    mutating func take(_ counts: RecentCounts, at now: Double) -> Turn {
        let former = (position: position, minutes: minutes)
        (position, minutes, toldAt) = (counts.position, counts.minutes, now)
        var turn = Turn(
            changed: Set(minutes.keys).union(former.minutes.keys).filter {
                $0 > counts.dayBefore && minutes[$0] != former.minutes[$0]
            })
        for (number, watch) in watches.sorted(by: { $0.key < $1.key })
        where watch.isDue(counts.position, at: counts.present) && !counts.isOlder(than: watch.position) {
            // Whoever was told other counts than the former ones is told all.
            let isWhole = watch.position != former.position
            watches[number]?.position = counts.position
            let day = RecentCounts.day(of: counts.present, watch.offset)
            let isNews = turn.changed.contains { $0 >= min(day, counts.firstShown) }
            guard isWhole || isNews || day != watch.day else { continue }
            watches[number]?.day = day
            watch.id.delivered.sent(Self.sizeOfMessage)
            turn.watches.append((watch, isWhole))
        }
        return turn
    }
}
