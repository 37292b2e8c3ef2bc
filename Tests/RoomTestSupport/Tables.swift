import FoundationEssentials

/// What the tests in several languages hold several implementations of one rule by: the files of `Tests/Tables`.
package enum Table {
    package static func read<Contents: Decodable>(
        _ name: String, as: Contents.Type = Contents.self
    ) throws -> Contents {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try JSONDecoder().decode(
            Contents.self, from: Data(contentsOf: folder.appending(path: "Tables/\(name).json")))
    }
}

/// What searches find and do not find.
package struct SearchCase: Sendable, Decodable, CustomStringConvertible {
    package let title: String
    package let artist: String?
    package let album: String?
    package let query: String
    package let found: Bool

    package var description: String { "“\(query)” in “\(title)”" }

    package static func all() throws -> [SearchCase] { try Table.read("search") }
}

/// How many votes to skip count, and how many skip.
package struct SkipVotesCase: Sendable, Decodable, CustomStringConvertible {
    package let voters: [Int]
    /// The members online; nil: only `online` of them are known, their number.
    package let here: [Int]?
    package let online: Int?
    /// The member who asks, who is there whatever `here` says.
    package let me: Int?
    package let ratio: Double
    package let counted: Int
    package let needed: Int

    package var description: String { "\(voters) of \(here?.description ?? "\(online ?? 0)"), \(ratio)" }

    package static func all() throws -> [SkipVotesCase] { try Table.read("skip-votes") }
}

/// Members of a room by their numbers, and how equal names are told apart.
package struct NamesCase: Sendable, Decodable, CustomStringConvertible {
    package let names: [String: String]
    package let shown: [String: String]

    package var description: String { "\(names)" }

    package static func all() throws -> [NamesCase] { try Table.read("names") }
}

/// What people paste and type for a room, and the room that is meant; nil: none.
package struct RoomLinks: Sendable, Decodable {
    package struct Text: Sendable, Decodable {
        package let text: String
        package let room: String?
        /// The server of a link.
        package let server: String?
    }

    package struct Address: Sendable, Decodable {
        package let path: String
        package let room: String?
    }

    package let texts: [Text]
    /// Paths that begin as those of rooms' pages do.
    package let addresses: [Address]
    /// Other paths.
    package let bareAddresses: [Address]

    private enum CodingKeys: String, CodingKey {
        case texts, addresses
        case bareAddresses = "bare addresses"
    }

    package static func all() throws -> RoomLinks { try Table.read("room-links") }
}
