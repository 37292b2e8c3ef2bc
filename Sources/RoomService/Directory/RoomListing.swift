import ByteText
import EventStorage
import FoundationEssentials
import RoomDomain
import RoomWire

/// Lists the open public rooms; may be used on any thread.
package struct RoomListing: Sendable {
    private let store: any EventStore
    private let presence: PresenceRegistry
    private let heavyWork: HeavyWork

    init(_ dependencies: Dependencies) {
        store = dependencies.store
        presence = dependencies.presence
        heavyWork = dependencies.heavyWork
    }

    /// Returns the open public rooms whose name contains `matching`: first those with listeners, most listeners first,
    /// then the others, newest first.
    ///
    /// Rooms are looked up in batches whose size does not depend on `limit`. A request reads a limited number of
    /// batches; its page may then be shorter than `limit`, with a ``ListingPage/next``. A search by name scans the
    /// store's rooms, and therefore waits for the turn of `asker`.
    package func list(
        matching: String?, from cursor: ListingCursor?, limit: Int, for asker: Asker
    ) async throws(RoomFailure) -> ListingPage {
        guard matching?.isEmpty == false else {
            return try await Self.listing(matching, cursor, limit, presence.ranked(), store)
        }
        let (ranked, store) = (presence.ranked(), store)
        return try await heavyWork.perform(.log, for: asker) { () async throws(RoomFailure) in
            try await Self.listing(matching, cursor, limit, ranked, store)
        }
    }

    /// The number of rooms looked up at once.
    private static let roomsPerBatch = 100
    /// The number of batches that one request reads.
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
                    // The page is full, and there is at least one more room.
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

extension DirectoryEntry {
    fileprivate func isListed(matching text: String?) -> Bool {
        guard isPublic, closedAt == nil else { return false }
        guard let text, !text.isEmpty else { return true }
        return name.asciiLowercased.contains(text.asciiLowercased)
    }
}
