import FoundationEssentials

/// What the program remembers between two commands.
struct Configuration: Codable, Sendable, Equatable {
    /// What is remembered of one server.
    struct Server: Codable, Sendable, Equatable {
        /// The session's token.
        var token: String?
        /// The name under which the session was made.
        var name: String?
        /// The file with the certificate authorities that are trusted for this server.
        var authority: String?
        /// The rooms that were used last, newest first.
        var rooms: [Room]

        init() { rooms = [] }

        /// Whether nothing is worth remembering.
        var isEmpty: Bool { self == Server() }
    }

    /// A room that was used.
    struct Room: Codable, Sendable, Equatable {
        var code: String
        var name: String
    }

    /// The most rooms that are remembered of a server.
    static let mostRooms = 20

    /// The address of the server that was used last.
    var server: String?
    /// By address.
    var servers: [String: Server] = [:]

    /// The rooms that are remembered of a server, newest first.
    func rooms(at server: String) -> [Room] { servers[server]?.rooms ?? [] }

    /// A room was used: it is the current one.
    mutating func use(_ room: Room, at server: String) {
        var known = servers[server] ?? Server()
        known.rooms.removeAll { $0.code == room.code }
        known.rooms.insert(room, at: 0)
        known.rooms = Array(known.rooms.prefix(Self.mostRooms))
        servers[server] = known
        self.server = server
    }

    /// Reads a file's bytes.
    static func read(_ bytes: [UInt8]) throws -> Configuration {
        try JSONDecoder().decode(Configuration.self, from: Data(bytes))
    }

    /// The file's bytes.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [0x0A]
    }
}
