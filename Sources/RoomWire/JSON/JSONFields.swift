/// A field that is missing or has the wrong type or value.
struct FieldViolation: Error, Equatable {
    /// The field with its path, such as `command.tracks[3].title`.
    let field: String
    /// The requirement, such as `a string`, worded to follow "must be".
    let expected: String

    /// The sentence for the sender.
    var message: String { "\(self.field) must be \(self.expected)" }
}

/// The members of an object, read by name and type; a member whose value is `null` counts as absent.
///
/// The object's position in the message is kept so that a violation can name the field; the text is made only then.
struct JSONFields {
    private let object: JSONObject
    private let path: StaticString
    private let element: Int?

    /// - Parameters:
    ///   - object: The object to read.
    ///   - path: Its position in the message; empty for the message itself.
    ///   - element: Its index, if `path` names an array.
    init(_ object: JSONObject, at path: StaticString = "", element: Int? = nil) {
        self.object = object
        self.path = path
        self.element = element
    }

    /// The members of `value`, which must be an object.
    init(_ value: JSONValue, at path: StaticString, element: Int? = nil) throws(FieldViolation) {
        guard let object = value.object else {
            throw FieldViolation(field: Self.text(path, element), expected: "an object")
        }
        self.init(object, at: path, element: element)
    }

    /// The violation of the member `name`.
    func violation(_ name: String, _ expected: String) -> FieldViolation {
        let path = Self.text(self.path, self.element)
        return FieldViolation(field: path.isEmpty ? name : "\(path).\(name)", expected: expected)
    }

    /// The violation found within the object or array element `name`, with the full path.
    private func violation(_ name: String, within violation: FieldViolation) -> FieldViolation {
        self.violation(violation.field.isEmpty ? name : "\(name).\(violation.field)", violation.expected)
    }

    private static func text(_ path: StaticString, _ element: Int?) -> String {
        element.map { "\(path)[\($0)]" } ?? "\(path)"
    }

    /// The member's value; nil if it is absent or `null`.
    subscript(name: String) -> JSONValue? {
        guard let value = self.object[name] else { return nil }
        if case .null = value { return nil }
        return value
    }

    /// Refuses a member whose name is not among `names`; a member whose value is `null` counts as absent.
    func requireNames(among names: Set<String>) throws(FieldViolation) {
        for name in self.object.members.lazy.map(\.name) where !names.contains(name) && self[name] != nil {
            let shown = name.unicodeScalars.prefix(Self.shownNameLength)
            throw self.violation(String(shown), "absent: no field here has this name")
        }
    }

    /// The number of characters of an unknown name that a violation shows: it must stay a sentence, whatever was sent.
    private static let shownNameLength = 80

    // MARK: Optional members

    func stringIfPresent(_ name: String) throws(FieldViolation) -> String? {
        guard let value = self[name] else { return nil }
        guard let string = value.string else { throw self.violation(name, "a string") }
        return string
    }

    func integerIfPresent(_ name: String) throws(FieldViolation) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let integer = value.integer else { throw self.violation(name, "an integer") }
        return integer
    }

    func countIfPresent(_ name: String) throws(FieldViolation) -> Int? {
        try self.integerIfPresent(name).map(Int.init)
    }

    func numberIfPresent(_ name: String) throws(FieldViolation) -> Double? {
        guard let value = self[name] else { return nil }
        guard let number = value.number else { throw self.violation(name, "a number") }
        return number
    }

    func boolIfPresent(_ name: String) throws(FieldViolation) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let bool = value.bool else { throw self.violation(name, "true or false") }
        return bool
    }

    func arrayIfPresent(_ name: String) throws(FieldViolation) -> [JSONValue]? {
        guard let value = self[name] else { return nil }
        guard let array = value.array else { throw self.violation(name, "an array") }
        return array
    }

    /// Reads an object with `read`; violations name its position.
    func objectIfPresent<Value>(
        _ name: String, _ read: (JSONFields) throws(FieldViolation) -> Value
    ) throws(FieldViolation) -> Value? {
        guard let value = self[name] else { return nil }
        do throws(FieldViolation) {
            return try read(try JSONFields(value, at: ""))
        } catch {
            throw self.violation(name, within: error)
        }
    }

    /// Reads a value that must be one of an enumeration's names.
    func choiceIfPresent<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Choice.Type = Choice.self
    ) throws(FieldViolation) -> Choice? {
        guard let value = self[name] else { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            throw self.violation(name, "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// Reads the number of a member, track or entry.
    func idIfPresent<ID: RawRepresentable<Int>>(
        _ name: String, as type: ID.Type = ID.self
    ) throws(FieldViolation) -> ID? {
        guard let value = self[name] else { return nil }
        guard let id = Self.id(value, as: type) else { throw self.violation(name, Self.idExpected) }
        return id
    }

    // MARK: Required members

    func string(_ name: String) throws(FieldViolation) -> String {
        guard let string = self[name]?.string else { throw self.violation(name, "a string") }
        return string
    }

    func integer(_ name: String) throws(FieldViolation) -> Int64 {
        guard let integer = self[name]?.integer else { throw self.violation(name, "an integer") }
        return integer
    }

    func count(_ name: String) throws(FieldViolation) -> Int {
        Int(try self.integer(name))
    }

    func number(_ name: String) throws(FieldViolation) -> Double {
        guard let number = self[name]?.number else { throw self.violation(name, "a number") }
        return number
    }

    func bool(_ name: String) throws(FieldViolation) -> Bool {
        guard let bool = self[name]?.bool else { throw self.violation(name, "true or false") }
        return bool
    }

    func array(_ name: String) throws(FieldViolation) -> [JSONValue] {
        guard let array = self[name]?.array else { throw self.violation(name, "an array") }
        return array
    }

    /// Reads an object with `read`; violations name its position.
    func object<Value>(
        _ name: String, _ read: (JSONFields) throws(FieldViolation) -> Value
    ) throws(FieldViolation) -> Value {
        guard let value = try self.objectIfPresent(name, read) else { throw self.violation(name, "an object") }
        return value
    }

    /// Reads an array of objects with `read`; violations name the element.
    func elements<Element>(
        _ name: String, _ read: (JSONFields) throws(FieldViolation) -> Element
    ) throws(FieldViolation) -> [Element] {
        let values = try self.array(name)
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            do throws(FieldViolation) {
                elements.append(try read(try JSONFields(value, at: "")))
            } catch {
                throw self.violation("\(name)[\(index)]", within: error)
            }
        }
        return elements
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Choice.Type = Choice.self
    ) throws(FieldViolation) -> Choice {
        guard let choice = try self.choiceIfPresent(name, of: type) else {
            throw self.violation(name, "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    func id<ID: RawRepresentable<Int>>(_ name: String, as type: ID.Type = ID.self) throws(FieldViolation) -> ID {
        guard let id = self[name].flatMap({ Self.id($0, as: type) }) else {
            throw self.violation(name, Self.idExpected)
        }
        return id
    }

    /// Reads an array of the numbers of members, tracks or entries.
    func ids<ID: RawRepresentable<Int>>(_ name: String, as type: ID.Type = ID.self) throws(FieldViolation) -> [ID] {
        let array = try self.array(name)
        var ids: [ID] = []
        ids.reserveCapacity(array.count)
        for (index, value) in array.enumerated() {
            guard let id = Self.id(value, as: type) else { throw self.violation("\(name)[\(index)]", Self.idExpected) }
            ids.append(id)
        }
        return ids
    }

    private static let idExpected = "a positive integer"

    private static func id<ID: RawRepresentable<Int>>(_ value: JSONValue, as type: ID.Type) -> ID? {
        guard let integer = value.integer, integer > 0 else { return nil }
        return ID(rawValue: Int(integer))
    }
}
