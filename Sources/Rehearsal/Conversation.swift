import RoomWire

/// What a client and a server say to each other, line by line, as a file tells it (`Documentation/Conversations.md`).
///
/// The first line is the header, each other one is a step. The server's part is played by ``Player``.
package struct Conversation: Sendable {
    /// The name of its file, for messages.
    package let name: String
    /// What it is about.
    package let title: String
    /// What a client must be able to do for it.
    package let needs: [String]
    /// The rooms' ids and codes, by the names of their variables.
    package let rooms: [String: RoomNames]
    /// The time between two beats that the server tells.
    package let beatMs: Int64
    /// The steps.
    package let lines: [Line]

    /// The time that goes by in it, in milliseconds.
    var passingMs: Int64 {
        lines.reduce(0) { sum, line in if case .pass(let ms) = line.step { sum + ms } else { sum } }
    }

    /// The names of one room: clients may use either.
    package struct RoomNames: Sendable, Equatable {
        package let id: String
        package let code: String
    }

    /// One step.
    package struct Line: Sendable {
        /// Its place in the file, from 1.
        let number: Int
        let step: Step
        /// The longest time for what the step waits for.
        var withinMs: Int64
        /// What is expected comes this much after the step before, at the earliest.
        var afterMs: Int64?
        /// A state of the client that will do in place of the message.
        var instead: JSONValue?
        /// The variable without which the step is left out, and the one with which it is.
        var condition: String?
        var exception: String?
    }

    enum Step: Sendable {
        /// Gives variables their values.
        case set(JSONObject)
        /// The client is told to do something.
        case act(JSONValue)
        /// A message of the client.
        case expect(JSONValue)
        /// A message to the client.
        case send(JSONValue)
        /// The server closes connections: all, or those that follow a room.
        case close(code: UInt16, room: String?)
        /// Connections end without a close.
        case drop
        /// The connections so far say nothing any more, and take nothing.
        case dead
        /// The next handshake is refused; a room: that of its socket, or a `subscribe` to it.
        case refuse(Refusal, room: String?)
        /// The client follows a room no more.
        case left(String)
        /// Neither says anything for this time; a room: the client does not ask for it, and may connect for others.
        case silent(ms: Int64, room: String?)
        /// This time goes by.
        case pass(ms: Int64)
        /// The client's state, of one room.
        case state(JSONValue, room: String?)
    }

    /// The answer to a handshake, and to requests of that time.
    struct Refusal: Sendable, Equatable {
        var status: Int
        var code: String
        var retryAfterMs: Int64?
    }
}

/// A file that is no conversation.
package struct ConversationFault: Error, Equatable, CustomStringConvertible {
    package let name: String
    package let line: Int
    package let message: String

    package var description: String { "\(name):\(line): \(message)" }
}
