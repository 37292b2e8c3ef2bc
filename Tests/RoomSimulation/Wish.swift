import RoomDomain
import RoomService

/// Something that a client wants of a room, asked for until there is an answer where it has a key, and once where not.
struct Wish {
    /// One time that it was asked for.
    struct Attempt {
        var node: SimulatedNode
        /// The room's head then.
        var head: Int
        var outcome: CommandOutcome?
        /// The server crashed before it answered.
        var isLost = false
    }

    var client: Int
    var room: RoomID
    var command: RoomCommand
    var actor: Actor
    var key: String?
    var attempts: [Attempt] = []
    /// The first acknowledgement.
    var acknowledged: CommandOutcome?
    /// Whether nobody asks for it any more.
    var isOver = false

    /// Whether some server owes an answer.
    var isWaiting: Bool { attempts.contains { $0.outcome == nil && !$0.isLost } }
}

/// Somebody's device.
final class Client {
    /// A connection that follows one room.
    struct Connection {
        var id: ConnectionID
        var node: SimulatedNode
        var room: RoomID
        /// Whether the room has accepted it.
        var isFollowing = false
        /// Since when, in nanoseconds.
        var since: Int64 = 0
        /// The members that it was told are online.
        var online: Set<MemberID> = []
        /// Whether it left out a delta, and waits for a snapshot instead.
        var isCatchingUp = false
    }

    let number: Int
    var session: Session
    var tokenHash: [UInt8]
    /// Where it stands in each room.
    var positions: [RoomID: (epoch: String, seq: Int)] = [:]
    var connections: [Connection] = []
    /// Whether it has begun to end its session.
    var isLeaving = false

    init(_ number: Int, _ session: Session, tokenHash: [UInt8]) {
        self.number = number
        self.session = session
        self.tokenHash = tokenHash
    }

    var actor: Actor { .session(session.id, name: session.name) }
}
