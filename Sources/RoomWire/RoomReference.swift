package import RoomDomain

/// A client's reference to a room: its id or its code, wherever the protocol has `{room}` or `"room"`.
package enum RoomReference: Sendable, Hashable {
    case id(RoomID)
    case code(RoomCode)

    /// Reads a UUID or the characters of a code; nil for any other text, which no room can have.
    package init?(_ text: String) {
        if let id = RoomID(text) {
            self = .id(id)
        } else if let code = RoomCode(text) {
            self = .code(code)
        } else {
            return nil
        }
    }

    /// The id or the code as text.
    package var text: String {
        switch self {
        case .id(let id): id.description
        case .code(let code): code.description
        }
    }
}
