package import RoomDomain

/// What a DJ's device plays, sent as one command after the other: one in flight, one waiting, and the newest wins.
///
/// Off line none is sent, and one after the room is back. A `syncDeck` names what was played since the last one that was
/// answered, so that one that waits may be replaced. A `finish` or `skip` is given only where nothing waits.
package struct DeckSync: Sendable, Equatable {
    /// A command, with the key under which it is to be sent.
    struct Waiting: Sendable, Equatable {
        var command: RoomCommand
        var key: String
    }

    private var waiting: Waiting?
    private var inFlight: CommandNumber?

    package init() {}

    /// Whether nothing waits and nothing is in flight.
    package var isIdle: Bool { waiting == nil && inFlight == nil }

    /// The device plays something else: replaces a command that waits.
    package mutating func changed(_ command: RoomCommand, key: String) {
        waiting = Waiting(command: command, key: key)
    }

    /// Takes the command that is to be sent now, if the room can be reached.
    mutating func next() -> Waiting? {
        guard inFlight == nil, let next = waiting else { return nil }
        waiting = nil
        return next
    }

    /// What was taken is the command of this number.
    mutating func sent(as number: CommandNumber) { inFlight = number }

    /// A command was answered; true if that is the one in flight.
    mutating func answered(_ number: CommandNumber) -> Bool {
        guard inFlight == number else { return false }
        inFlight = nil
        return true
    }

    /// Sends nothing any more: the role is gone.
    mutating func end() { waiting = nil }
}
