import RoomDomain
import RoomWire

/// What names a room: its identifier or its code.
public struct RoomReference: Sendable, Hashable, CustomStringConvertible {
    let wire: RoomWire.RoomReference

    init(_ wire: RoomWire.RoomReference) { self.wire = wire }

    /// Reads an identifier (a UUID) or a code of six or eight characters, in either case; nil for any other text.
    ///
    /// Of a link to a room (`https://party.example/r/7KQ2ZM/`), the code is taken. What people copy along with a code
    /// does no harm: space and punctuation around it, as in `#7KQ2ZM` or `“7KQ2ZM”.`, and full width characters.
    public init?(_ text: String) {
        let plain = Self.plain(text)
        let name: Substring
        if let path = plain.firstRange(of: "/r/") {
            name = plain[path.upperBound...].prefix { !"/?#".contains($0) }
        } else if plain.lowercased().hasPrefix("http"), let last = plain.split(separator: "/").last {
            name = last
        } else {
            name = plain[...]
        }
        let bare = name.trimming { !$0.isLetter && !$0.isNumber }
        guard let wire = RoomWire.RoomReference(String(bare)) else { return nil }
        self.wire = wire
    }

    /// The text with ASCII in place of full width characters (U+FF01 … U+FF5E).
    private static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isWide = (0xFF01...0xFF5E).contains(scalar.value)
            plain.append(isWide ? Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar : scalar)
        }
        return String(plain)
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

extension Substring {
    /// The text without the characters at its beginning and end for which a condition holds.
    fileprivate func trimming(_ isCut: (Character) -> Bool) -> Substring {
        let end = lastIndex { !isCut($0) }.map { index(after: $0) } ?? startIndex
        return self[..<end].drop(while: isCut)
    }
}
