/// The fault in a message or a request body, as the answer reports it.
package struct MessageViolation: Error, Sendable, Equatable {
    /// The message's `id`; nil if none could be read.
    package var re: Int64?
    /// The code of the answer.
    package var code: ErrorCode
    /// A sentence that names the field and the requirement.
    package var message: String

    package init(re: Int64? = nil, code: ErrorCode = .badRequest, message: String) {
        self.re = re
        self.code = code
        self.message = message
    }

    /// The answer to a field that is missing or has the wrong type.
    init(_ violation: FieldViolation) {
        self.init(message: violation.message)
    }

    /// The answer to a text that is not JSON.
    init(_ violation: JSONViolation) {
        self.init(message: "not JSON: \(violation)")
    }
}

extension JSONFields {
    /// The members of a message or body, which must be a JSON object.
    init(message text: Span<UInt8>) throws(MessageViolation) {
        let value: JSONValue
        do throws(JSONViolation) {
            value = try JSONValue(parsing: text)
        } catch {
            throw MessageViolation(error)
        }
        guard let object = value.object else { throw MessageViolation(message: "not a JSON object") }
        self.init(object)
    }
}
