import RoomWire

extension Conversation {
    /// The bound of a wait that no line sets.
    static let usualWithinMs: Int64 = 5_000

    /// Reads a file: one JSON object a line, empty lines apart.
    package init(_ text: [UInt8], name: String) throws(ConversationFault) {
        var header: JSONObject?
        var lines: [Line] = []
        for (index, bytes) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard bytes.contains(where: { $0 > 0x20 }) else { continue }
            let object = try Self.object(bytes, name: name, line: index + 1)
            guard header != nil else {
                header = object
                continue
            }
            do throws(Misshapen) {
                lines.append(try Self.line(object, number: index + 1))
            } catch {
                throw ConversationFault(name: name, line: index + 1, message: error.message)
            }
        }
        guard let header, let title = header["conversation"]?.string else {
            throw ConversationFault(name: name, line: 1, message: "the first line has no \"conversation\"")
        }
        self.name = name
        self.title = title
        self.needs = header["needs"]?.array?.compactMap(\.string) ?? []
        self.beatMs = header["beatMs"]?.integer ?? 25_000
        self.lines = lines
        var rooms: [String: RoomNames] = [:]
        for member in header["rooms"]?.object?.members ?? [] {
            guard let id = member.value.object?["id"]?.string, let code = member.value.object?["code"]?.string,
                RoomReference(id) != nil, RoomReference(code) != nil
            else {
                throw ConversationFault(
                    name: name, line: 1, message: "the room \(member.name) needs an \"id\" and a \"code\"")
            }
            rooms[member.name] = RoomNames(id: id, code: code)
        }
        self.rooms = rooms
        guard !rooms.isEmpty else { throw ConversationFault(name: name, line: 1, message: "there are no \"rooms\"") }
    }

    private static func object(
        _ bytes: ArraySlice<UInt8>, name: String, line: Int
    ) throws(ConversationFault) -> JSONObject {
        do throws(JSONViolation) {
            if let object = try JSONValue(parsing: bytes).object { return object }
        } catch {
            throw ConversationFault(name: name, line: line, message: "no JSON: \(error)")
        }
        throw ConversationFault(name: name, line: line, message: "no object")
    }

    private struct Misshapen: Error {
        let message: String

        init(_ message: String) { self.message = message }
    }

    /// The members that say what a step is, and those that say more about it.
    private static let kinds: Set = [
        "let", "do", "expect", "send", "close", "drop", "dead", "refuse", "left", "silent", "pass", "state",
    ]
    private static let modifiers: Set = ["within", "after", "or", "if", "unless", "room", "note"]

    private static func line(_ object: JSONObject, number: Int) throws(Misshapen) -> Line {
        let names = object.members.map(\.name)
        if let unknown = names.first(where: { !kinds.contains($0) && !modifiers.contains($0) }) {
            throw Misshapen("there is no \"\(unknown)\"")
        }
        let said = names.filter { kinds.contains($0) }
        guard let kind = said.first, said.count == 1, let value = object[kind] else {
            throw Misshapen("a line has one of " + kinds.sorted().joined(separator: ", "))
        }
        var line = Line(
            number: number, step: try step(kind, value, room: object["room"]?.string), withinMs: usualWithinMs)
        line.afterMs = object["after"]?.integer
        line.withinMs = (object["within"]?.integer ?? usualWithinMs) + (line.afterMs ?? 0)
        line.instead = object["or"]
        line.condition = try variable("if", object)
        line.exception = try variable("unless", object)
        return line
    }

    private static func variable(_ name: String, _ object: JSONObject) throws(Misshapen) -> String? {
        guard let value = object[name] else { return nil }
        guard let variable = value.string.flatMap({ Variables.name(in: $0) }) else {
            throw Misshapen("\"\(name)\" names a variable")
        }
        return variable
    }

    private static func step(_ kind: String, _ value: JSONValue, room: String?) throws(Misshapen) -> Step {
        switch kind {
        case "let":
            guard let object = value.object else { throw Misshapen("\"let\" has an object of values") }
            return .set(object)
        case "do":
            guard value.object?.members.count ?? 0 > 0 else { throw Misshapen("\"do\" has an object") }
            return .act(value)
        case "expect":
            guard value.object?["type"]?.string != nil else { throw Misshapen("a message has a \"type\"") }
            return .expect(value)
        case "send":
            guard value.object?["type"]?.string != nil else { throw Misshapen("a message has a \"type\"") }
            return .send(value)
        case "close":
            guard let code = value.integer.flatMap({ UInt16(exactly: $0) }) else {
                throw Misshapen("\"close\" has a close code")
            }
            return .close(code: code, room: room)
        case "drop": return .drop
        case "dead": return .dead
        case "refuse":
            guard let status = value.object?["status"]?.integer.flatMap({ Int(exactly: $0) }),
                let code = value.object?["code"]?.string
            else { throw Misshapen("\"refuse\" has a \"status\" and a \"code\"") }
            let retryAfterMs = value.object?["retryAfterMs"]?.integer
            return .refuse(Refusal(status: status, code: code, retryAfterMs: retryAfterMs), room: room)
        case "left":
            guard let room = value.string else { throw Misshapen("\"left\" names a room") }
            return .left(room)
        case "silent", "pass":
            guard let ms = value.integer, ms > 0 else { throw Misshapen("\"\(kind)\" has a time in milliseconds") }
            return kind == "pass" ? .pass(ms: ms) : .silent(ms: ms, room: room)
        default: return .state(value, room: room)
        }
    }
}
