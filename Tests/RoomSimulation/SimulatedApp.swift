import RoomDomain
import RoomReplica
import RoomService
import RoomWire

/// A device with an app that has the client's machine: the program, which crashes, and the disk, which does not.
final class SimulatedApp {
    /// A command as the person gave it.
    struct Posted {
        var room: RoomID
        var command: RoomCommand
        /// Whether it has to survive a crash of the program.
        var isKept: Bool
        /// The name of the track that only this command adds; nil if it adds none.
        var mark: String?
        var number: CommandNumber
        /// The program's life in which it was given.
        var life: Int
        /// Whether the program has let it go from the disk: the app was told of it just then, or the program crashed.
        var isForgotten = false
        /// What the app was told, if anything.
        var answer: CommandAnswer?
        /// The epoch of its replica then.
        var answeredIn: String?
        /// The room's head when it was sent first; nil before.
        var firstSent: Int?
        /// How often it was sent to a room that refused it, or that has not told what became of it.
        var possibleRefusals = 0
    }

    /// One room on a socket, as the server has it.
    struct Follow {
        var id: ConnectionID
        var room: RoomID
        /// Whether the room has accepted it, and it waits for no answer.
        var isFollowing = false
        /// Whether it omitted a delta, and waits for a snapshot instead.
        var isCatchingUp = false
        /// The last event that was sent.
        var sent = 0
    }

    /// One socket: both ends of it.
    struct Socket {
        var id: Int
        var attempt: Int
        var node: SimulatedNode
        var follows: [Follow] = []
        /// Messages behind a subscription that is not answered.
        var inbox: [ClientMessage] = []
        var isWaiting = false
        /// The commands that rooms put off.
        let order = CommandOrder()
        /// When the newest message of each way arrives, in nanoseconds: each way keeps its order.
        var lastArrival: (up: Int64, answer: Int64, news: Int64) = (0, 0, 0)
    }

    /// A command on a socket, by its number there.
    struct SentCommand: Hashable {
        var socket: Int
        var number: Int64
    }

    let number: Int
    let session: Session
    // The disk.
    var rooms: [RoomReference: StoredRoom] = [:]
    var outbox: [CommandNumber: OutboxCommand] = [:]
    var lastNumber = CommandNumber(rawValue: 0)
    // The program.
    var machine: ClientMachine?
    var life = 0
    var socket: Socket?
    /// Whether a command that was answered was put off.
    var isPutOff: [SentCommand: Bool] = [:]
    /// The answers that may only say what that to an earlier command will say.
    var unjudged: [SentCommand: [Truth.Answer]] = [:]
    var attempt = 0
    var wakes = 0
    /// Whether it can reach no server.
    var isCutOff = false
    // What the person knows.
    var followed: [RoomID] = []
    var posted: [Posted] = []

    init(_ number: Int, _ session: Session) {
        self.number = number
        self.session = session
    }

    var actor: Actor { .session(session.id, name: session.name) }

    /// The place of a command that was given in this life of the program or kept by an earlier one.
    func place(of number: CommandNumber) -> Int? { posted.lastIndex { $0.number == number } }
}
