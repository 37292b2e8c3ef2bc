import FoundationEssentials
import GeoSearch
import RoomWire

extension NearbyRooms {
    /// What is known, who watches, and who waits: behind one lock.
    struct State {
        var index = NearbyIndex()
        var rooms: [UUID: PlacedRoom] = [:]
        var watches: [Int: NearbyWatch] = [:]
        var nextWatch = 0
        /// Where a change concerns which watches.
        var reaches = BoxTable()
        /// Watches whom something that has changed may concern, and since which round.
        var due: [Int: Int] = [:]
        /// Rounds in which those who are concerned were told.
        var rounds = 0
        /// Searches that were made for watches which were due.
        var searches = 0
        /// Whether the rooms were read.
        var isLoaded = false
        /// Milliseconds of the server's clock: when the last reading that brought all changes ended, or the start.
        var lastRead: Double
        /// Who waits until the log was read once more, by numbers.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiting = 0
        /// Whether a reading that begins later than every question is on its way.
        var isAsked = false
        /// Whether nothing is read any more.
        var isOver: Bool
    }
}

extension NearbyRooms.State {
    /// The rooms that a query means.
    func find(_ query: NearbyQuery) -> [FoundRoom] {
        index.nearest(to: query.origin, within: query.radiusMeters, limit: query.limit).compactMap { hit in
            rooms[hit.id].map { FoundRoom(room: $0, distance: hit.distance) }
        }
    }

    /// Puts a room where it is by now, or takes it out where `room` is nil, and notes whom it concerns that it is not as
    /// it was; returns how many that are.
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

    /// What a watch is to be told, if anything and if its client takes it.
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

    /// Takes out everybody who waits.
    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
