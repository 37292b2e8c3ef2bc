import FoundationEssentials
import RoomDomain

@testable import RoomService

/// A person who sends commands to rooms.
struct Person: Sendable, Equatable {
    var session: SessionID
    var name: String

    /// The sender as a room sees it.
    var actor: Actor { .session(session, name: name) }

    /// The person at an address that does not count.
    var asker: Asker { Asker(session, from: nil) }

    /// A person who has made no room and is unknown to the log.
    static func guest(_ number: UInt8) -> Person {
        let uuid = UUID(uuid: (1, 0x93, 0x50, 0x3F, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
        return Person(session: SessionID(uuid), name: "Guest \(number)")
    }

    static let bob = guest(2)
    static let cyd = guest(3)
}

extension Asker {
    static let anybody = Person.bob.asker
}
