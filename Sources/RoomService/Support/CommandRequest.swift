package import RoomDomain

/// A command on its way to a room.
package struct CommandRequest: Sendable {
    /// Who asks.
    package var actor: Actor
    /// Makes a retry safe: the same key of the same session gets the first outcome again.
    package var key: String?
    /// What is asked.
    package var command: RoomCommand
    /// What stands for the address it comes from, which is charged for what it writes; nil: nobody is.
    package var network: UInt64?
    /// What was charged for it: where it is decided anew, it is not charged again.
    var charged = 0
    /// Counts a new member; nil where none is to be counted.
    ///
    /// Called once, on the room's event loop, when a `join` is about to make one. Returns nil, or after how many
    /// milliseconds it is worth trying again.
    package var countNewcomer: (@Sendable () -> Int?)?
    /// Called once, on the room's event loop.
    package var reply: @Sendable (CommandOutcome) -> Void

    package init(
        actor: Actor, key: String?, command: RoomCommand, network: UInt64? = nil,
        countNewcomer: (@Sendable () -> Int?)? = nil,
        reply: @escaping @Sendable (CommandOutcome) -> Void
    ) {
        self.actor = actor
        self.key = key
        self.command = command
        self.network = network
        self.countNewcomer = countNewcomer
        self.reply = reply
    }
}
