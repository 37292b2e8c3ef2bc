import RoomDomain
import RoomWire

/// Bytes of a client are read or refused, and a JSON tree that is written again reads the same.
///
/// As JSON, a refusal names the offset; as a message or body, it has a sentence. This holds for every reader of JSON.
///
/// An input is the text itself.
enum ClientMessagesProperty {
    static func check(_ input: [UInt8]) throws(BrokenProperty) -> Fuzzer.Verdict {
        let readings = Readings(input)
        for violation in readings.violations {
            let answer = Self.tree(ServerMessage.error(violation))
            try require(answer != nil && !violation.message.isEmpty, "the answer to \(violation) is no JSON")
        }
        if let message = try? readings.message.get() {
            let again = try? ClientMessage.parse(message.encoded())
            try require(again == message, "\(message), written and read: \(String(describing: again))")
        }
        let value: JSONValue
        do throws(JSONViolation) {
            value = try JSONValue(parsing: input)
        } catch {
            try require(!readings.isAnyAccepted, "\(error), and yet \(readings)")
            return .refused
        }
        try self.checkDepth(of: value, input)
        if !JSONText.holdsRoundedInteger(value) {
            let text = JSONText.encode(value)
            try require(Self.tree(text) == value, "\(value) as \(String(decoding: text, as: UTF8.self))")
            let again = Readings(text)
            try require(again == readings, "\(readings), written again: \(again)")
        }
        return readings.isAnyAccepted ? .accepted : .refused
    }

    private static func tree(_ text: [UInt8]) -> JSONValue? { try? JSONValue(parsing: text) }

    /// Nesting is refused from exactly one level on.
    private static func checkDepth(of value: JSONValue, _ input: [UInt8]) throws(BrokenProperty) {
        let depth = JSONText.depth(value)
        try require(depth <= JSONValue.usualMaximumDepth, "\(depth) levels")
        guard depth > 0 else { return }
        try require((try? JSONValue(parsing: input, maximumDepth: depth)) == value, "refused with \(depth) levels")
        do throws(JSONViolation) {
            _ = try JSONValue(parsing: input, maximumDepth: depth - 1)
        } catch {
            return try require(error == .tooDeep(limit: depth - 1), "\(error) for \(depth) levels")
        }
        throw BrokenProperty("\(depth) levels taken where \(depth - 1) are allowed")
    }

    /// The results of all readers of JSON for one text.
    private struct Readings: Equatable {
        let message: Result<ClientMessage, MessageViolation>
        let command: Result<RoomCommand, MessageViolation>
        let session: Result<SessionRequest, MessageViolation>
        let room: Result<CreateRoomRequest, MessageViolation>
        /// Fingerprints of the command and of the room, if they could be read.
        let fingerprints: [Int64]

        init(_ text: [UInt8]) {
            self.message = Result { () throws(MessageViolation) in try ClientMessage.parse(text) }
            self.command = Result { () throws(MessageViolation) in try CommandJSON.parse(body: text) }
            self.session = Result { () throws(MessageViolation) in try SessionRequest.parse(text) }
            self.room = Result { () throws(MessageViolation) in try CreateRoomRequest.parse(text) }
            self.fingerprints =
                [try? self.command.get()].compactMap { $0.map(CommandJSON.fingerprint) }
                + [try? self.room.get()].compactMap { $0?.fingerprint }
        }

        var violations: [MessageViolation] {
            [
                Self.violation(self.message), Self.violation(self.command), Self.violation(self.session),
                Self.violation(self.room),
            ].compactMap { $0 }
        }

        /// There are four readers.
        var isAnyAccepted: Bool { self.violations.count < 4 }

        private static func violation<Value>(_ result: Result<Value, MessageViolation>) -> MessageViolation? {
            if case .failure(let violation) = result { violation } else { nil }
        }
    }
}
