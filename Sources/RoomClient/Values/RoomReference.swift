import RoomDomain
import RoomWire

/// What names a room: its identifier or its code.
public struct RoomReference: Sendable, Hashable, CustomStringConvertible {
    let wire: RoomWire.RoomReference

    init(_ wire: RoomWire.RoomReference) { self.wire = wire }

    /// Reads an identifier (a UUID) or a code of six or eight characters, in either case; nil for any other text.
    ///
    /// Of a link to a room (`https://party.example/r/7KQ2ZM/`), also among other words, the code is taken. What people
    /// copy along with a code does no harm: space and punctuation around it, as in `#7KQ2ZM` or `“7KQ2ZM”.`, blanks and
    /// hyphens in it, full width and invisible characters, and what senders of links add to them.
    /// `Tests/Tables/room-links.json` has texts and what they name.
    public init?(_ text: String) {
        guard let room = PastedRoom(text) else { return nil }
        wire = room.reference
    }

    /// The server of a link to a room; nil where the text is no link, or the server is none that a client connects to.
    package static func server(ofLink text: String) -> ServerAddress? {
        PastedRoom(text)?.server.flatMap { ServerAddress($0) }
    }

    /// A room's identifier.
    public init(_ id: RoomID) { wire = .id(id.domain) }

    /// The identifier or the code as text.
    public var description: String { wire.text }
}

/// The identifier of a room.
public struct RoomID: Sendable, Hashable, CustomStringConvertible {
    let domain: RoomDomain.RoomID

    init(_ domain: RoomDomain.RoomID) { self.domain = domain }

    /// Reads a UUID; nil for any other text.
    public init?(_ text: String) {
        guard let domain = RoomDomain.RoomID(text) else { return nil }
        self.domain = domain
    }

    /// The UUID, in lower case.
    public var description: String { domain.description }
}

/// The position of a room's state in its log.
public struct Position: Sendable, Hashable {
    /// The epoch; a position of another one says nothing about this room.
    public let epoch: String
    /// The number of the last event in the state.
    public let sequence: Int

    init(_ wire: RoomWire.Position) {
        epoch = wire.epoch
        sequence = wire.seq
    }
}
