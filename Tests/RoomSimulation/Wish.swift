import RoomDomain
import RoomService

/// A client's request to a room: with a key it is repeated until it is answered, without one it is sent once.
struct Wish {
    /// One sending of the request.
    struct Attempt {
        var node: SimulatedNode
        /// The room's head at that time.
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
    /// Whether it is not sent any more.
    var isOver = false

    /// Whether some server owes an answer.
    var isWaiting: Bool { attempts.contains { $0.outcome == nil && !$0.isLost } }
}

/// A person's device.
final class Client {
    /// A connection that follows one room.
    struct Connection {
        var id: ConnectionID
        var node: SimulatedNode
        var room: RoomID
        /// Whether the room has accepted it.
        var isFollowing = false
        /// The time since which it follows, in nanoseconds.
        var since: Int64 = 0
        /// The members that are online, as far as it was told.
        var online: Set<MemberID> = []
        /// The deck, as it was told.
        var deck: ToldDeck?
        /// Whether it omitted a delta, and waits for a snapshot instead.
        var isCatchingUp = false
    }

    let number: Int
    var session: Session
    var tokenHash: [UInt8]
    /// Its position in each room.
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
