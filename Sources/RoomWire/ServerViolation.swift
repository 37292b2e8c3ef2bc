/// The fault that a client finds in a server's message or answer.
package enum ServerViolation: Error, Sendable, Equatable {
    /// A text that is not JSON.
    case notJSON(JSONViolation)
    /// A text that is JSON but not an object.
    case notAnObject
    /// A message of a type that this program does not know, as a later release may send.
    case unknownType(String)
    /// A field that is missing or has the wrong type, with its path (such as `events[3].votes`) and the requirement.
    case field(String, expected: String)

    init(_ violation: FieldViolation) {
        self = .field(violation.field, expected: violation.expected)
    }
}

extension ServerViolation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notJSON(let violation): "not JSON: \(violation)"
        case .notAnObject: "not a JSON object"
        case .unknownType(let type): "no message type is called \(type)"
        case .field(let field, let expected): "\(field) must be \(expected)"
        }
    }
}

extension JSONFields {
    /// The members of a server's message or answer, which must be a JSON object.
    init(answer text: Span<UInt8>) throws(ServerViolation) {
        let value: JSONValue
        do throws(JSONViolation) {
            value = try JSONValue(parsing: text)
        } catch {
            throw .notJSON(error)
        }
        guard let object = value.object else { throw .notAnObject }
        self.init(object)
    }

    /// Reads a server's answer, which must be a JSON object, with `read`.
    static func answer<Value>(
        _ text: Span<UInt8>, _ read: (JSONFields) throws(FieldViolation) -> Value
    ) throws(ServerViolation) -> Value {
        let fields = try JSONFields(answer: text)
        do throws(FieldViolation) {
            return try read(fields)
        } catch {
            throw ServerViolation(error)
        }
    }
}
