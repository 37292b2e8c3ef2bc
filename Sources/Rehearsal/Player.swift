import RoomWire

/// The server of one conversation, and the one who tells the client's program what to do.
///
/// It does no I/O and has no clock: connections, messages, the program's lines and times come in, and steps go out.
/// Whatever order Protocol.md leaves to a client is left here too: a handshake is answered, and a message read, when a
/// line of the conversation waits for it. A room's own socket counts as a `subscribe` without an `id`.
package struct Player: Sendable {
    /// A message of the client, or the question in a socket's path.
    struct Arrived: Sendable {
        let connection: Int
        let message: JSONValue
        let type: String
        /// The id of the room that it names.
        let room: String?
        let at: Int64
    }

    /// A handshake that no line has waited for yet.
    struct Attempt: Sendable {
        let connection: Int
        let path: AskedPath
        let at: Int64
    }

    struct Connection: Sendable {
        /// The room whose socket it is.
        let room: String?
        /// Whether the server has died.
        var isMuted = false
        /// The rooms whose end was told on it.
        var ended: Set<String> = []
    }

    /// What the program was asked last and has not answered.
    enum Question: Sendable, Equatable {
        case none, start, act, state
    }

    /// The name of the file and what it is about.
    package let conversation: Conversation
    let token: String
    let address: String
    let patienceMs: Int64?
    var variables: Variables
    package internal(set) var result: PlayerResult?
    var transcriptLines = Transcript()
    var steps: [PlayerStep] = []

    // The line that is played.
    var next = 0
    var lineBegan: Int64?
    var question = Question.none
    var answer: JSONObject?
    /// The difference of the state that was told last.
    var difference: String?
    var askAgainAt: Int64?

    // The world.
    var can: Set<String> = []
    var attempts: [Attempt] = []
    var connections: [Int: Connection] = [:]
    var arrived: [Arrived] = []
    /// The connection on which each room is followed.
    var followed: [String: Int] = [:]
    /// The messages that lines have taken, by their id.
    var taken: [(id: JSONValue, connection: Int)] = []
    /// What requests and handshakes are refused with.
    var refusal: Conversation.Refusal?
    var begin: Int64 = 0
    /// The time that has gone by for the program only.
    var passedMs: Int64 = 0
    var wakeAt: Int64?

    /// The server's time at the beginning, in milliseconds since 1970.
    static let serverTime: Int64 = 1_732_200_000_000
    /// The session that the token is of.
    static let session = JSONValue.object(
        JSONObject([
            .init(name: "id", value: .string("01935000-0000-7000-8000-000000000001")),
            .init(name: "name", value: .string("Ana")),
        ]))
    /// The time for an answer of the program.
    static let answerMs: Int64 = 10_000
    /// The time between two looks at a state that is not yet as it should be.
    static let lookMs: Int64 = 20
    /// Clocks of two programs may differ by this much in the length of a wait.
    static let clockMs: Int64 = 50

    /// The server listens at `address`, for the session with this token.
    ///
    /// `patienceMs` bounds the time that goes by in a conversation, unless the program can set its clock.
    package init(_ conversation: Conversation, address: String, token: String, patienceMs: Int64? = nil) {
        self.patienceMs = patienceMs
        self.conversation = conversation
        self.address = address
        self.token = token
        variables = Variables(rooms: conversation.rooms)
    }

    /// What has happened so far.
    package var transcript: [String] { transcriptLines.lines }

    /// Whether it is over.
    package var isOver: Bool { result != nil }

    // MARK: The program

    /// The program runs; it is told where the server is.
    package mutating func started(at now: Int64) -> [PlayerStep] {
        begin = now
        let (address, token) = (address, token)
        tell(.start, "start", at: now) { writer in
            writer.beginObject()
            writer.member("address", address)
            writer.member("token", token)
            writer.name("session")
            writer.value(Self.session)
            writer.endObject()
        }
        return finish(at: now)
    }

    /// The program has written a line.
    package mutating func answered(_ line: [UInt8], at now: Int64) -> [PlayerStep] {
        guard !isOver else { return [] }
        guard let object = (try? JSONValue(parsing: line, maximumDepth: 64))?.object else {
            fail("the program has written what is no JSON object: \(String(decoding: line.prefix(200), as: UTF8.self))")
            return finish(at: now)
        }
        if question != .state { note("program →", .object(object), at: now) }
        switch question {
        case .none: fail("the program has written a line that nobody asked for: \(Transcript.text(.object(object)))")
        case .start:
            question = .none
            can = Set(object["can"]?.array?.compactMap(\.string) ?? [])
            var missing = conversation.needs.filter { !can.contains($0) }
            if let patienceMs, conversation.passingMs > patienceMs, !can.contains("clock") { missing.append("clock") }
            if !missing.isEmpty { end(.skipped(needs: missing)) } else { advance(at: now) }
        case .act, .state:
            question = .none
            answer = object
            advance(at: now)
        }
        return finish(at: now)
    }

    /// The program has ended, as `how` tells.
    package mutating func programEnded(_ how: String, at now: Int64) -> [PlayerStep] {
        if !isOver { fail("the program has ended: \(how)") }
        return finish(at: now)
    }

    /// Whoever runs the player has seen enough.
    package mutating func gaveUp(_ message: String, at now: Int64) -> [PlayerStep] {
        fail(message)
        return finish(at: now)
    }

    mutating func tell(_ asked: Question, _ name: StaticString, at now: Int64, _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name(name)
        write(&writer)
        writer.endObject()
        question = asked
        if asked != .state {
            transcriptLines.note("program ← " + String(decoding: writer.bytes, as: UTF8.self), at: now - begin)
        }
        steps.append(.tell(writer.bytes))
    }

    // MARK: Time

    /// The moment that was asked for has come.
    package mutating func woken(at now: Int64) -> [PlayerStep] {
        wakeAt = nil
        advance(at: now)
        return finish(at: now)
    }

    /// Returns all steps of an input.
    mutating func finish(at now: Int64) -> [PlayerStep] {
        if !isOver, let due, due != wakeAt {
            wakeAt = due
            steps.append(.wake(at: due))
        }
        defer { steps = [] }
        return steps
    }

    mutating func note(_ text: String, _ value: JSONValue, at now: Int64) {
        transcriptLines.note(text, value, at: now - begin)
    }

    // MARK: The end

    /// Ends with a failure of the line that is played.
    mutating func fail(_ message: String) {
        guard !isOver else { return }
        var text = message
        if conversation.lines.indices.contains(next) {
            text = "\(conversation.name):\(conversation.lines[next].number): \(message)"
        } else {
            text = "\(conversation.name): \(message)"
        }
        if !arrived.isEmpty {
            let waiting = arrived.prefix(5).map { String(Transcript.text($0.message).prefix(300)) }
            text += "\n    not taken yet: " + waiting.joined(separator: ", ")
        }
        if !attempts.isEmpty { text += "\n    \(attempts.count) handshakes wait for a line that expects them" }
        end(.failed(text))
    }

    mutating func end(_ result: PlayerResult) {
        guard !isOver else { return }
        self.result = result
        steps.append(.finished(result))
    }
}
