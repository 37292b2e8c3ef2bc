import RoomDomain
import RoomWire

/// What names a room: its identifier or its code.
public struct RoomReference: Sendable, Hashable, CustomStringConvertible {
    let wire: RoomWire.RoomReference

    init(_ wire: RoomWire.RoomReference) { self.wire = wire }

    /// Reads an identifier (a UUID) or a code of six or eight characters, in either case; nil for any other text.
    ///
    /// Of a link to a room (`https://party.example/r/7KQ2ZM`), the code is taken.
    public init?(_ text: String) {
        let name = text.hasPrefix("http") ? text.split(separator: "/").last.map { String($0) } ?? text : text
        guard let wire = RoomWire.RoomReference(name) else { return nil }
        self.wire = wire
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
