import RehearsalTestSupport
import RoomDomain
import RoomReplica
import RoomWire

/// What a program under test has been told, and its state as the player reads it.
struct ProgramState {
    /// The names of commands, signals and claims, and what became of them.
    var commands: [CommandNumber: String] = [:]
    var tellings: [TellingNumber: String] = [:]
    /// The rooms, as they are followed.
    var references: [RoomReference] = []
    var deck: MachineDeck?
    private var outcomes: [(name: String, outcome: JSONValue)] = []
    private var reactions: [JSONValue] = []
    private var signals: [JSONValue] = []
    private var circles: [String] = []
    private var nearby: [String: JSONValue] = [:]
    private var keys = 0

    mutating func newKey() -> Int {
        keys += 1
        return keys
    }

    /// The number of a circle.
    mutating func circle(_ name: String) -> Int {
        if let index = circles.firstIndex(of: name) { return index }
        circles.append(name)
        return circles.count - 1
    }

    mutating func take(_ step: ClientStep) {
        switch step {
        case .answered(let number, let answer):
            guard let name = commands[number] else { return }
            outcomes.append((name, Self.outcome(answer)))
        case .told(let number, let refusal):
            guard let name = tellings[number] else { return }
            let outcome: JSONValue = refusal.map { jsonObject(["error": .string($0.code.text)]) } ?? Self.ok
            outcomes.append((name, outcome))
        case .reaction(_, let from, let emoji):
            reactions.append(jsonObject(["from": .integer(Int64(from.rawValue)), "emoji": .string(emoji)]))
        case .signal(_, let from, let data):
            let data = (try? JSONValue(parsing: data.text)) ?? .null
            signals.append(jsonObject(["from": .integer(Int64(from.rawValue)), "data": data]))
        case .nearby(let watch, let rooms):
            nearby[circles[watch]] = .array(rooms.map { .string($0.id.description) })
        case .nearbyEnded(let watch, let code): nearby[circles[watch]] = jsonObject(["error": .string(code.text)])
        case .connect, .close, .send, .wake, .changed, .phase, .keep, .deckEnded, .deckAnswered, .ended: break
        }
    }

    private static let ok = jsonObject(["ok": .bool(true)])

    private static func outcome(_ answer: CommandAnswer) -> JSONValue {
        switch answer {
        case .acknowledged(_, let result):
            guard let result, let value = try? JSONValue(parsing: ResultJSON.encode(result)) else { return ok }
            return jsonObject(["ok": .bool(true), "result": value])
        case .refused(let refusal): return jsonObject(["error": .string(refusal.code.text)])
        case .superseded, .expired: return jsonObject(["dropped": .bool(true)])
        case .outcomeUnknown: return jsonObject(["unknown": .bool(true)])
        }
    }

    /// The state of one room.
    func state(of room: ClientRoom?, time: Timestamp?) throws -> JSONValue {
        var state: [String: JSONValue] = [
            "outcomes": jsonObject(Dictionary(outcomes.map { ($0.name, $0.outcome) }) { _, last in last }),
            "reactions": .array(reactions), "signals": .array(signals), "nearby": jsonObject(nearby),
        ]
        if let time { state["time"] = .integer(time.milliseconds) }
        guard let room else { return jsonObject(state) }
        state.merge(try stateMembers(of: room)) { _, new in new }
        return jsonObject(state)
    }
}
