import FoundationEssentials
import GeoSearch
import RoomWire

extension NearbyRooms {
    /// The rooms, the watches and the waiting searches, behind one lock.
    struct State {
        var index = NearbyIndex()
        var rooms: [UUID: PlacedRoom] = [:]
        var watches: [Int: NearbyWatch] = [:]
        var nextWatch = 0
        /// The areas in which a change concerns a watch.
        var reaches = BoxTable()
        /// The watches that a change may concern, each with the round in which it became due.
        var due: [Int: Int] = [:]
        /// The number of rounds in which watches were told.
        var rounds = 0
        /// The number of searches made for watches that were due.
        var searches = 0
        /// Whether the rooms have been read.
        var isLoaded = false
        /// The time at which the last complete reading ended, or of the start, in milliseconds of the server's clock.
        var lastRead: Double
        /// The callers that wait for the next reading of the log, by number.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiting = 0
        /// Whether a reading is scheduled that begins after every request so far.
        var isAsked = false
        /// Whether reading has ended for good.
        var isOver: Bool
    }
}

extension NearbyRooms.State {
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

    /// Returns the change to tell a watch, if there is one and the watch's client takes it.
    mutating func change(for number: Int) -> (NearbyWatch, NearbyWatch.Change)? {
        guard var watch = watches[number], watch.delivered.takesMore else { return nil }
        due[number] = nil
        searches += 1
        let former = watch.reach
        let change = watch.show(find(watch.query))
        if watch.reach != former {
            reaches.remove(former, of: number)
            reaches.insert(watch.reach, as: number)
        }
        watches[number] = watch
        guard !change.isEmpty else { return nil }
        watch.delivered.sent(change.size)
        return (watch, change)
    }

    /// Removes and returns all waiting callers.
    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
