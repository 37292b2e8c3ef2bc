import FoundationEssentials
import RoomDomain

/// A position in the listing of rooms, as text that clients cannot interpret.
package struct ListingCursor: Sendable, Equatable {
    enum Place: Equatable {
        /// Among the rooms with listeners.
        case listened(Int)
        /// Among the other rooms.
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

    /// Reads a value of ``text``; nil for any other text.
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
