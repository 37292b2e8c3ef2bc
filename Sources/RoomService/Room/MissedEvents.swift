import EventStorage
import RoomDomain
import RoomLog

/// A part of a room's log that a connection lacks, and that is not in memory.
struct MissedEvents: Sendable, Equatable {
    let room: RoomID
    /// The epoch of the log that the part belongs to.
    let epoch: String
    /// The last event that the connection has.
    let after: Int
    /// The room's last event when it was asked.
    let through: Int
    /// The most bytes of payload.
    let bytes: Int
    /// Whether all of it must fit into ``bytes``; otherwise as many events are read as do.
    let isWhole: Bool

    /// The number of events read at a time, so that few are read in vain.
    private static let eventsPerRead = 500

    /// The first of its events, at least one; nil if they cannot be had, or the part is too long.
    func read(from store: any EventStore) async -> [RecordedEvent]? {
        let stored = try? await pages(from: store)
        return try? stored.map { try $0.recorded(after: after, through: after + $0.count) }
    }

    /// If the part is to be whole, it is checked first, ``eventsPerRead`` events at a time: nil if its payloads exceed
    /// the bytes, or events are missing.
    private func pages(from store: any EventStore) async throws(StorageFault) -> [StoredEvent]? {
        var (first, size, end): ([StoredEvent], Int, Int) = ([], 0, after)
        while end < through {
            let limit = min(Self.eventsPerRead, through - end)
            let page = try await store.read(room.uuid, after: end, limit: limit, bytes: bytes - size + 1)
            guard isWhole else { return page.isEmpty ? nil : page }
            size += page.payloadBytes
            guard size <= bytes, page.count == limit else { return nil }
            if end == after { first = page }
            end += limit
        }
        return first
    }
}
