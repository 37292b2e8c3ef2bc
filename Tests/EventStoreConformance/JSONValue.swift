import EventStorage
import FoundationEssentials

/// A JSON value; two are equal if they mean the same, whatever their white space and order of members.
///
/// Texts are compared by their bytes: a store may not normalise them.
enum JSONValue: Hashable, Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text([UInt8])
    case array([JSONValue])
    case object([[UInt8]: JSONValue])
    /// Bytes that are not JSON.
    case invalid([UInt8])

    init(parsing json: [UInt8]) {
        self = (try? JSONDecoder().decode(JSONValue.self, from: Data(json))) ?? .invalid(json)
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Member.self) {
            var members: [[UInt8]: JSONValue] = [:]
            for key in container.allKeys {
                members[Array(key.stringValue.utf8)] = try container.decode(JSONValue.self, forKey: key)
            }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd {
                elements.append(try container.decode(JSONValue.self))
            }
            self = .array(elements)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let bool = try? container.decode(Bool.self) {
                self = .bool(bool)
            } else if let integer = try? container.decode(Int64.self) {
                self = .integer(integer)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(Array(try container.decode(String.self).utf8))
            }
        }
    }

    private struct Member: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// An event with its payload parsed, for comparison.
struct ParsedEvent: Hashable {
    let seq: Int
    let at: Int64
    let type: String
    let payload: JSONValue

    init(_ event: StoredEvent) {
        seq = event.seq
        at = event.at
        type = event.type
        payload = JSONValue(parsing: event.payload)
    }
}

/// A command key with its result parsed, for comparison.
struct ParsedKey: Hashable {
    let ordinal: Int
    let session: UUID
    let key: String
    let fingerprint: Int64
    let seq: Int
    let result: JSONValue?

    init(_ key: CommandKey) {
        ordinal = key.ordinal
        session = key.session
        self.key = key.key
        fingerprint = key.fingerprint
        seq = key.seq
        result = key.result.map(JSONValue.init(parsing:))
    }
}

/// A loaded stream with its JSON parsed, for comparison.
struct ParsedStream: Hashable {
    let head: StreamHead
    let snapshot: StoredSnapshot?
    let events: [ParsedEvent]
    let keys: [ParsedKey]

    init(_ stream: LoadedStream) {
        head = stream.head
        snapshot = stream.snapshot
        events = stream.events.map(ParsedEvent.init)
        keys = stream.keys.map(ParsedKey.init)
    }
}
