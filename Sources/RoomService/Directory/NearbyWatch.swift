import EventStorage
import FoundationEssentials
import GeoSearch
import RoomWire

/// A room's directory entry with its place.
///
/// It never changes, so a different object means a different entry.
final class PlacedRoom: Sendable {
    let id: UUID
    let entry: DirectoryEntry
    let place: Coordinate
    /// A hash of the entry.
    let hash: Int

    /// Makes the entry; nil if nearby searches do not show the room.
    init?(_ record: DirectoryRecord) {
        var entry = record.entry
        guard entry.isPublic, entry.closedAt == nil, let place = entry.location?.coordinate else { return nil }
        id = record.stream
        // Summaries do not show the owner, so a change of owner is no news.
        entry.owner = nil
        self.entry = entry
        self.place = place
        hash = entry.hashValue
    }
}

/// A room that a search found, with its distance from the point of the search.
struct FoundRoom {
    var room: PlacedRoom
    var distance: Double
}

/// What was shown of the rooms near a point: one object for all watches that were told the same.
final class NearbyList: Sendable {
    /// A room, and what was told of it, which is only compared.
    struct Shown: Equatable {
        var id: UUID
        var hash: Int
    }

    let rooms: [Shown]

    init(_ rooms: [Shown] = []) { self.rooms = rooms }
}

/// A subscription to changes near a point.
struct NearbyWatch {
    /// Receives one text message, on any thread; messages arrive one at a time and in order.
    typealias Delivery = @Sendable (_ message: [UInt8]) -> Void

    /// The change to be told.
    struct Change {
        var entered: [FoundRoom] = []
        var changed: [FoundRoom] = []
        var left: [UUID] = []

        var isEmpty: Bool { entered.isEmpty && changed.isEmpty && left.isEmpty }

        /// About how many bytes its message takes.
        var size: Int {
            (entered + changed).reduce(64 + 40 * left.count) { sum, found in
                let entry = found.room.entry
                let texts = [entry.name, entry.djName ?? "", entry.nowPlayingTitle ?? "", entry.nowPlayingArtist ?? ""]
                return texts.reduce(sum + 300) { $0 + $1.utf8.count }
            }
        }
    }

    let query: NearbyQuery
    let sub: Int64
    /// Whose other watches it waits for.
    let origin: HeavyWorkOrigin
    let delivered: WatchClient.Delivery
    let deliver: Delivery
    /// The area outside which changes do not concern the watch: the reach of the query, or that of the last room in a
    /// full list.
    private(set) var reach: BoundingBox
    /// The rooms that the client was told of.
    private(set) var shown = NearbyList()

    init(
        _ query: NearbyQuery, sub: Int64, of origin: HeavyWorkOrigin, _ delivered: WatchClient.Delivery,
        deliver: @escaping Delivery
    ) {
        self.query = query
        self.sub = sub
        self.origin = origin
        self.delivered = delivered
        self.deliver = deliver
        reach = BoundingBox(around: query.origin, radius: query.radiusMeters)
    }

    /// Stores the rooms that are near now, and returns the change to be told.
    ///
    /// `last` is what was shown last of an equal query: where that is equal, the watch keeps it too.
    mutating func show(_ found: [FoundRoom], last: inout NearbyList) -> Change {
        var change = Change()
        var gone = Dictionary(uniqueKeysWithValues: shown.rooms.map { ($0.id, $0.hash) })
        for found in found {
            guard let known = gone.removeValue(forKey: found.room.id) else {
                change.entered.append(found)
                continue
            }
            if known != found.room.hash { change.changed.append(found) }
        }
        change.left = Array(gone.keys)
        let rooms = found.map { NearbyList.Shown(id: $0.room.id, hash: $0.room.hash) }
        if last.rooms != rooms { last = NearbyList(rooms) }
        shown = last
        let isFull = found.count == query.limit
        let radius = isFull ? found.last?.distance ?? query.radiusMeters : query.radiusMeters
        reach = BoundingBox(around: query.origin, radius: min(radius, query.radiusMeters))
        return change
    }
}
