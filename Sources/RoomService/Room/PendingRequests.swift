import NIOCore
import RoomDomain

/// The requests to a room that are not answered: commands, and requests to know that the room is at its log's head.
///
/// Invariants, which the tests cite by number:
///
/// 1. Each request has a number that no other one has.
/// 2. Commands are numbered, and so decided, in the order of their arrival. A long one waits for the room's turn on its
///    loop, and all later ones wait behind it.
/// 3. Each request is taken out once, to be answered.
struct PendingRequests: ~Copyable {
    /// What follows from the arrival of a command.
    enum Arrival: Equatable {
        /// It is decided at once, under this number.
        case decide(RoomWriter.RequestID)
        /// It waits, and the room asks for turns on its loop.
        case askForTurns
        /// It waits for the turns that were asked for.
        case wait
        /// Too many wait: it is answered `unavailable`, and is not kept.
        case refuse
    }

    /// The most commands that wait for the room's turn.
    static let queueLimit = 1_024

    private var commands: [RoomWriter.RequestID: CommandRequest] = [:]
    private var verifications: [RoomWriter.VerificationID: @Sendable () -> Void] = [:]
    private var lastNumber = 0
    /// Commands that wait for the room's turn, without a number.
    private var queue: CircularBuffer<CommandRequest> = []

    /// Whether any command waits for the room's turn.
    var isQueued: Bool { !queue.isEmpty }

    // MARK: Commands

    /// Takes a command.
    mutating func add(_ request: CommandRequest) -> Arrival {
        guard isQueued || request.isLong else { return .decide(number(request)) }
        guard queue.count < Self.queueLimit else { return .refuse }
        queue.append(request)
        return queue.count == 1 ? .askForTurns : .wait
    }

    /// The number of the next command of a turn; nil if the turn is over.
    ///
    /// `items` is 0 at the beginning of a turn, and then what the commands of this turn have had. Several short commands
    /// make one turn.
    mutating func next(_ items: inout Int) -> RoomWriter.RequestID? {
        guard items < CommandRequest.itemsAtOnce, let request = queue.popFirst() else { return nil }
        items += 1 + request.command.itemCount
        return number(request)
    }

    private mutating func number(_ request: CommandRequest) -> RoomWriter.RequestID {
        lastNumber += 1
        commands[lastNumber] = request
        return lastNumber
    }

    /// Decides a command by `decide`, which may change what is kept of it.
    mutating func decide(
        _ number: RoomWriter.RequestID, _ decide: (inout CommandRequest) -> RoomWriter.Decision
    ) -> RoomWriter.Decision {
        guard let index = commands.index(forKey: number) else { preconditionFailure("no command \(number)") }
        return decide(&commands.values[index])
    }

    /// Takes out a command that is answered.
    mutating func takeCommand(_ number: RoomWriter.RequestID) -> CommandRequest? {
        commands.removeValue(forKey: number)
    }

    // MARK: Verifications

    /// Takes a callback that waits for the log's head, and returns its number.
    mutating func add(_ done: @escaping @Sendable () -> Void) -> RoomWriter.VerificationID {
        lastNumber += 1
        verifications[lastNumber] = done
        return lastNumber
    }

    /// Takes out a callback that is to be called.
    mutating func takeVerification(_ number: RoomWriter.VerificationID) -> (@Sendable () -> Void)? {
        verifications.removeValue(forKey: number)
    }
}
