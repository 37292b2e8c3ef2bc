package import RoomDomain

/// A command on its way to a room.
package struct CommandRequest: Sendable {
    /// The actor who sends the command.
    package var actor: Actor
    /// Makes a retry safe: the same key of the same session gets the first outcome again.
    package var key: String?
    /// The command itself.
    package var command: RoomCommand
    /// The value that stands for the address of the client, which is charged for the command's events; nil charges
    /// none.
    package var network: UInt64?
    /// The cost charged so far; it is not charged again if the command is decided again.
    var charged = 0
    /// Counts a new member; nil if none is to be counted.
    ///
    /// Called once, on the room's event loop, when a `join` is about to make one. Returns nil, or the milliseconds
    /// after which a retry may succeed.
    package var countNewcomer: (@Sendable () -> Int?)?
    /// Its place among the commands of its connection; nil if it has none.
    let place: CommandPlace?
    /// Receives the outcome; called once, on the room's event loop.
    package var reply: @Sendable (CommandOutcome) -> Void

    /// Commands with at most this many tracks or entries are decided as soon as they arrive.
    static let itemsAtOnce = 50

    /// Whether the command waits for the room's turn on its loop.
    var isLong: Bool { command.itemCount > Self.itemsAtOnce }

    package init(
        actor: Actor, key: String?, command: RoomCommand, network: UInt64? = nil,
        countNewcomer: (@Sendable () -> Int?)? = nil, place: CommandPlace? = nil,
        reply: @escaping @Sendable (CommandOutcome) -> Void
    ) {
        self.actor = actor
        self.key = key
        self.command = command
        self.network = network
        self.countNewcomer = countNewcomer
        self.place = place
        guard let place else {
            self.reply = reply
            return
        }
        self.reply = { outcome in
            place.note(outcome)
            reply(outcome)
        }
    }
}
