import FoundationEssentials
import GeoSearch
import RoomWire

/// The open public rooms that have a place, and the watches of them.
struct NearbyTable {
    private var index = NearbyIndex()
    private var rooms: [UUID: PlacedRoom] = [:]
    private(set) var watches: [Int: NearbyWatch] = [:]
    private var nextWatch = 0
    /// What was shown last of each query that is watched.
    private(set) var lists: [NearbyQuery: WatchedList] = [:]
    /// The areas in which a change concerns a watch.
    private var reaches = BoxTable()
    /// The watches that a change may concern, each with the round in which it became due.
    private var due: [Int: Int] = [:]
    /// The number of rounds in which watches were told.
    private var rounds = 0
    /// The number of searches made for watches that were due.
    private(set) var searches = 0

    struct WatchedList {
        var watches = 0
        var last = NearbyList()
    }

    /// The number of rooms.
    var roomCount: Int { rooms.count }
    /// The number of watches that have not ended.
    var watchCount: Int { watches.count }
    /// The ids of all rooms.
    var ids: [UUID] { Array(rooms.keys) }

    // MARK: Rooms

    /// The rooms that match a query.
    func find(_ query: NearbyQuery) -> [FoundRoom] {
        index.nearest(to: query.origin, within: query.radiusMeters, limit: query.limit).compactMap { hit in
            rooms[hit.id].map { FoundRoom(room: $0, distance: hit.distance) }
        }
    }

    /// Stores a room's current entry, or removes it if `room` is nil, and notes the watches that the change concerns;
    /// returns their number.
    mutating func set(_ id: UUID, to room: PlacedRoom?) -> Int {
        let former = rooms[id]
        guard former?.entry != room?.entry else { return 0 }
        rooms[id] = room
        if let room { index.place(id, at: room.place) } else { index.remove(id) }
        var concerned = former.map { reaches.numbers(at: $0.place) } ?? []
        if let room, room.place != former?.place { concerned += reaches.numbers(at: room.place) }
        for number in concerned where due[number] == nil { due[number] = rounds }
        return concerned.count
    }

    // MARK: Watches

    /// A number for a watch.
    mutating func nextNumber() -> Int {
        defer { nextWatch += 1 }
        return nextWatch
    }

    /// Begins a watch, and returns the rooms that it shows; they count as its first message.
    mutating func begin(_ watch: NearbyWatch, as number: Int) -> [FoundRoom] {
        var watch = watch
        let found = find(watch.query)
        lists[watch.query, default: WatchedList()].watches += 1
        watch.delivered.sent(show(found, to: &watch).size)
        watches[number] = watch
        reaches.insert(watch.reach, as: number)
        return found
    }

    /// Ends a watch.
    mutating func end(_ number: Int) {
        guard let ended = watches.removeValue(forKey: number) else { return }
        reaches.remove(ended.reach, of: number)
        due[number] = nil
        lists[ended.query]?.watches -= 1
        if lists[ended.query]?.watches == 0 { lists[ended.query] = nil }
        ended.delivered.taken()
    }

    /// Begins a round, and returns the watches that changes concern: of each origin the one that has waited longest, then
    /// the second of each, and so on.
    mutating func takeRound() -> [Int] {
        rounds += 1
        return due.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key).inTurn { number in
            watches[number].map { [$0.origin] } ?? []
        }
    }

    /// Returns the change to tell a watch, if there is one and the watch's client takes it.
    mutating func change(for number: Int) -> (NearbyWatch, NearbyWatch.Change)? {
        guard var watch = watches[number], watch.delivered.takesMore else { return nil }
        due[number] = nil
        searches += 1
        let former = watch.reach
        let change = show(find(watch.query), to: &watch)
        if watch.reach != former {
            reaches.remove(former, of: number)
            reaches.insert(watch.reach, as: number)
        }
        watches[number] = watch
        guard !change.isEmpty else { return nil }
        watch.delivered.sent(change.size)
        return (watch, change)
    }

    private mutating func show(_ found: [FoundRoom], to watch: inout NearbyWatch) -> NearbyWatch.Change {
        watch.show(found, last: &lists[watch.query, default: WatchedList()].last)
    }
}
