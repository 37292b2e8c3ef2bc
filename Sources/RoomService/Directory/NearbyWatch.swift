import EventStorage
import FoundationEssentials
import GeoSearch
import RoomWire

/// A room as the directory lists it, in a place: never changed, so that another object is another entry.
final class PlacedRoom: Sendable {
    let id: UUID
    let entry: DirectoryEntry
    let place: Coordinate

    /// Nil where nearby searches do not show the room.
    init?(_ record: DirectoryRecord) {
        var entry = record.entry
        guard entry.isPublic, entry.closedAt == nil, let place = entry.location?.coordinate else { return nil }
        id = record.stream
        // No summary shows it: who owns the room is no news.
        entry.owner = nil
        self.entry = entry
        self.place = place
    }
}

/// A room that a search found, and how far it is from where it was asked.
struct FoundRoom {
    var room: PlacedRoom
    var distance: Double
}

/// Somebody who is shown what changes near a point.
struct NearbyWatch {
    /// Takes one text message, on any thread; messages come one at a time and in their order.
    typealias Delivery = @Sendable (_ message: [UInt8]) -> Void

    /// What is to be told.
    struct Change {
        var entered: [FoundRoom] = []
        var changed: [FoundRoom] = []
        var left: [UUID] = []

        var isEmpty: Bool { entered.isEmpty && changed.isEmpty && left.isEmpty }

        /// About how many bytes it takes to tell it.
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
    let delivered: NearbyClient.Delivery
    let deliver: Delivery
    /// What happens outside concerns nobody: as far as the query reaches, or the last room of a list that is full.
    private(set) var reach: BoundingBox
    /// What its client was told of.
    private var shown: [UUID: PlacedRoom] = [:]

    init(_ query: NearbyQuery, sub: Int64, _ delivered: NearbyClient.Delivery, deliver: @escaping Delivery) {
        self.query = query
        self.sub = sub
        self.delivered = delivered
        self.deliver = deliver
        reach = BoundingBox(around: query.origin, radius: query.radiusMeters)
    }

    /// Takes what is near by now, and returns what is to be told.
    mutating func show(_ found: [FoundRoom]) -> Change {
        var change = Change()
        var gone = shown
        for found in found {
            guard let known = gone.removeValue(forKey: found.room.id) else {
                change.entered.append(found)
                continue
            }
            if known !== found.room, known.entry != found.room.entry { change.changed.append(found) }
        }
        change.left = Array(gone.keys)
        shown = Dictionary(uniqueKeysWithValues: found.map { ($0.room.id, $0.room) })
        let isFull = found.count == query.limit
        let radius = isFull ? found.last?.distance ?? query.radiusMeters : query.radiusMeters
        reach = BoundingBox(around: query.origin, radius: min(radius, query.radiusMeters))
        return change
    }
}
