import EventStorage
import FoundationEssentials
import GeoSearch
package import RoomDomain
package import RoomWire

extension RoomHost {
    /// One page of the listing.
    package struct ListingPage: Sendable {
        /// Rooms, most listeners first, then the newest.
        package var rooms: [RoomSummary]
        /// Where the next page begins; nil at the end.
        package var next: ListingCursor?
    }

    /// Open public rooms whose name contains `matching`: those with listeners first, most listeners first, then the
    /// others, newest first.
    ///
    /// Rooms are looked up in batches whose size does not depend on `limit`. A request looks at so many of them at most:
    /// then the page is shorter than `limit` and has its ``ListingPage/next`` all the same. A search among names goes
    /// through what the store has, and so waits for the turn of `session`.
    package func list(
        matching: String?, from cursor: ListingCursor?, limit: Int, for session: SessionID? = nil
    ) async throws(RoomFailure) -> ListingPage {
        guard let session, matching?.isEmpty == false else {
            return try await Self.listing(matching, cursor, limit, presence.ranked(), store)
        }
        let (ranked, store) = (presence.ranked(), store)
        return try await heavily(.log, for: session) { () async throws(RoomFailure) in
            try await Self.listing(matching, cursor, limit, ranked, store)
        }
    }

    /// How many rooms are looked up at once.
    private static let roomsPerBatch = 100
    /// How many batches one request looks at.
    private static let batchesPerPage = 10

    private static func listing(
        _ matching: String?, _ cursor: ListingCursor?, _ limit: Int, _ ranked: [(room: RoomID, listeners: Int)],
        _ store: any EventStore
    ) async throws(RoomFailure) -> ListingPage {
        do {
            var rooms: [RoomSummary] = []
            var batches = 0
            if cursor?.place != .quiet {
                var rest = ranked.drop { !(cursor?.precedes($0) ?? true) }
                while !rest.isEmpty {
                    let part = rest.prefix(roomsPerBatch)
                    rest = rest.dropFirst(part.count)
                    let records = try await store.directory(of: part.map(\.room.uuid))
                    let byID = Dictionary(uniqueKeysWithValues: records.map { ($0.stream, $0.entry) })
                    for (room, count) in part {
                        guard let entry = byID[room.uuid], entry.isListed(matching: matching) else { continue }
                        rooms.append(RoomSummary(room, entry, listeners: count))
                        guard rooms.count < limit else {
                            return ListingPage(rooms: rooms, next: .afterListened(room, listeners: count))
                        }
                    }
                    batches += 1
                    if batches == batchesPerPage, !rest.isEmpty, let last = part.last {
                        return ListingPage(rooms: rooms, next: .afterListened(last.room, listeners: last.listeners))
                    }
                }
            }
            let loud = Set(ranked.map(\.room))
            var before = cursor?.place == .quiet ? cursor?.room.uuid : nil
            while true {
                let records = try await store.openPublicStreams(
                    matching: matching, before: before, limit: roomsPerBatch)
                for record in records where !loud.contains(RoomID(record.stream)) {
                    // The page is full, and there is one more.
                    guard rooms.count < limit else {
                        return ListingPage(rooms: rooms, next: before.map { .afterQuiet(RoomID($0)) })
                    }
                    rooms.append(RoomSummary(RoomID(record.stream), record.entry, listeners: 0))
                    before = record.stream
                }
                before = records.last?.stream ?? before
                if records.count < roomsPerBatch { return ListingPage(rooms: rooms, next: nil) }
                batches += 1
                guard batches < batchesPerPage, rooms.count < limit else {
                    return ListingPage(rooms: rooms, next: before.map { .afterQuiet(RoomID($0)) })
                }
            }
        } catch {
            throw RoomFailure(error)
        }
    }
}

extension RoomHost {
    /// Calls `done`, on any thread, with whether the rooms with a place are known, once they are as the log has them or
    /// that is out of reach; returns false where the process ends and `done` is not called.
    package func refreshNearby(_ done: @escaping @Sendable (Bool) -> Void) -> Bool {
        jobs.start { done(await self.nearby.refresh()) }
    }
}

/// A place in the listing of rooms, as text for clients: opaque to them.
package struct ListingCursor: Sendable, Equatable {
    enum Place: Equatable {
        /// Among the rooms that somebody listens to.
        case listened(Int)
        /// Among the others.
        case quiet
    }

    var place: Place
    var room: RoomID

    static func afterListened(_ room: RoomID, listeners: Int) -> Self { Self(place: .listened(listeners), room: room) }
    static func afterQuiet(_ room: RoomID) -> Self { Self(place: .quiet, room: room) }

    private init(place: Place, room: RoomID) {
        self.place = place
        self.room = room
    }

    /// Reads what ``text`` gave; nil where it is anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let room = RoomID(parts[1]) else { return nil }
        if parts[0] == "q" {
            place = .quiet
        } else if let count = Int(parts[0]), count > 0 {
            place = .listened(count)
        } else {
            return nil
        }
        self.room = room
    }

    /// The cursor as text.
    package var text: String {
        switch place {
        case .listened(let count): "\(count).\(room)"
        case .quiet: "q.\(room)"
        }
    }

    /// Whether a room with listeners comes after this place.
    func precedes(_ ranked: (room: RoomID, listeners: Int)) -> Bool {
        guard case .listened(let count) = place else { return false }
        return ranked.listeners < count || (ranked.listeners == count && ranked.room.uuid > room.uuid)
    }
}

extension DirectoryEntry {
    fileprivate func isListed(matching text: String?) -> Bool {
        guard isPublic, closedAt == nil else { return false }
        guard let text, !text.isEmpty else { return true }
        return name.asciiLowercased().contains(text.asciiLowercased())
    }
}

extension String {
    fileprivate func asciiLowercased() -> String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { ("A"..."Z").contains($0) ? Unicode.Scalar($0.value + 32) ?? $0 : $0 }))
    }
}

extension RoomSummary {
    init(_ room: RoomID, _ entry: DirectoryEntry, listeners: Int) {
        var location: Coordinate?
        if let latitude = entry.latitude, let longitude = entry.longitude {
            location = Coordinate(latitude: latitude, longitude: longitude)
        }
        self.init(
            id: room, code: RoomCode(entry.code) ?? .zero, name: entry.name, location: location, listeners: listeners,
            djName: entry.djName,
            nowPlaying: entry.nowPlayingTitle.map { NowPlaying(title: $0, artist: entry.nowPlayingArtist) },
            createdAt: Timestamp(milliseconds: entry.createdAt), distanceMeters: nil)
    }
}
