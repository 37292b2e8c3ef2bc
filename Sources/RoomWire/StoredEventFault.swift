/// The reason why a stored text cannot be read: another program wrote it, or it is damaged.
package enum StoredEventFault: Error, Sendable, Equatable {
    /// An event of a type that this program does not know.
    case unknownType(String)
    /// A text that is not JSON.
    case notJSON(JSONViolation)
    /// A field that is missing or has the wrong type; the sentence names it.
    case field(String)
}

extension JSONFields {
    /// The members of a stored JSON object.
    init(stored text: [UInt8]) throws(StoredEventFault) {
        let value: JSONValue
        do throws(JSONViolation) {
            value = try JSONValue(parsing: text)
        } catch {
            throw .notJSON(error)
        }
        guard let object = value.object else { throw .field("the text must be an object") }
        self.init(object)
    }
}
