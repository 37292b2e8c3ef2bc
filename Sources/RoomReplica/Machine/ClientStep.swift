package import RoomDomain
package import RoomWire

/// What the machine asks of its shell, which takes the steps in their order.
package enum ClientStep: Sendable, Equatable {
    /// Open a socket after a wait. A later one replaces an attempt that is not open yet.
    case connect(attempt: Int, afterMs: Int64, SocketPath)
    /// Close the socket of an attempt, or give the attempt up.
    case close(attempt: Int, code: UInt16)
    /// Send one text message on the open socket.
    case send([UInt8])
    /// Call ``ClientMachine/woken(at:)`` at this instant; it replaces the one before, and nil takes that back.
    case wake(at: ClientInstant?)
    /// A room has changed as it is shown.
    case changed(RoomReference, [RoomChange])
    /// A room is at another stage.
    case phase(RoomReference, Following.Phase)
    /// The app is told what became of a command.
    case answered(CommandNumber, CommandAnswer)
    /// Keep something on the device: it is durable before the next step is taken.
    case keep(Kept)
    /// Another member shows a reaction.
    case reaction(RoomReference, from: MemberID, emoji: String)
    /// Another member has sent data.
    case signal(RoomReference, from: MemberID, RelayedJSON)
    /// A signal, or a claim to be the deck, was answered; nil: it is on its way.
    case told(TellingNumber, Refusal?)
    /// The rooms of a watched circle, nearest first.
    case nearby(watch: Int, [RoomSummary])
    /// A circle is not watched any more.
    case nearbyEnded(watch: Int, ErrorName)
    /// What became of a deck that was sent; `key` is the one that the app gave it.
    case deckAnswered(RoomReference, key: String, CommandAnswer)
    /// The device's deck leads no more: the role is gone.
    case deckEnded(RoomReference, ErrorName)
    /// The session is over: nothing connects any more.
    case ended(Refusal)

    /// What is kept on the device.
    package enum Kept: Sendable, Equatable {
        /// A room with the position that it is of.
        case room(RoomReference, StoredRoom)
        /// A command, as it is now.
        case command(OutboxCommand)
        /// A command that need not be kept any more.
        case answered(CommandNumber)
    }
}

/// The path of a socket.
package enum SocketPath: Sendable, Hashable {
    /// A socket for any number of rooms.
    case any
    /// A room's socket, which answers at once: from the position, if there is one.
    case room(RoomReference, Position?)
}

/// The number of a signal or a claim that wants an answer.
package struct TellingNumber: Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }
}
