import RoomService
import RoomWire

/// The messages of one socket that are not answered: they are handled in the order of their arrival, and one at a time
/// where the next one depends on an answer.
struct RequestQueue {
    /// The number of commands under way from which on nothing more is read from the peer.
    private static let limit = 1_024

    private var inbox: [ClientMessage] = []
    /// Whether a message must be answered before the next one is handled: a subscription, or one whose room is being
    /// looked up.
    private var isWaiting = false
    /// Whether messages are being handled: an answer may arrive at once, from within.
    private var isWorking = false
    /// The number of commands, reactions, signals and claims that rooms have not answered.
    private var underWay = 0
    /// The commands that were put off.
    private(set) lazy var order = CommandOrder()

    /// Whether messages wait to be handled.
    var hasMessages: Bool { !inbox.isEmpty }

    /// Whether every message is handled and answered.
    var isDone: Bool { inbox.isEmpty && !isWaiting && underWay == 0 }

    /// Whether more may be read from the peer.
    var takesMore: Bool { inbox.isEmpty && underWay < Self.limit }

    mutating func add(_ message: ClientMessage) { inbox.append(message) }

    /// Forgets messages that are not handled: the socket closes.
    mutating func clear() { inbox = [] }

    /// Returns whether the caller is to handle messages, until ``end()``; false if somebody does.
    mutating func begin() -> Bool {
        guard !isWorking else { return false }
        isWorking = true
        return true
    }

    /// The message to be handled next; nil if there is none, or an answer is waited for.
    mutating func next() -> ClientMessage? { isWaiting || inbox.isEmpty ? nil : inbox.removeFirst() }

    mutating func end() { isWorking = false }

    /// Later messages wait for the answer to the one that is being handled.
    mutating func wait() { isWaiting = true }

    /// The answer that was waited for has come.
    mutating func answered() { isWaiting = false }

    /// A room has a command, of which nothing waits for the answer.
    mutating func began() { underWay += 1 }

    mutating func ended() { underWay -= 1 }
}
