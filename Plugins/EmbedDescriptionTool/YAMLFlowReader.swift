/// Reads the values of one line of YAML as JSON; see ``YAMLReader``.
struct YAMLFlowReader {
    /// What was not read.
    private(set) var rest: Substring
    private let line: Int

    init(_ text: Substring, line: Int) {
        rest = text
        self.line = line
    }

    /// The value that is the whole text.
    static func value(_ text: Substring, line: Int) throws(YAMLFault) -> String {
        var reader = YAMLFlowReader(text, line: line)
        let json = try reader.value(endsAt: "")
        guard reader.rest.isEmpty else { throw reader.fault("\(reader.rest) follows the value") }
        return json
    }

    /// A text as JSON.
    static func quoted(_ text: Substring, line: Int) throws(YAMLFault) -> String {
        guard text.unicodeScalars.allSatisfy({ $0 >= " " }) else {
            throw YAMLFault(line: line, problem: "a text has a control character")
        }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// The key of a mapping, and the white space after its colon.
    mutating func key() throws(YAMLFault) -> String {
        let key: String
        if rest.first == "\"" {
            key = try doubleQuoted()
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            key = try Self.plain(rest[..<end], line: line)
            guard key.hasPrefix("\"") else { throw fault("the key \(key) must be quoted") }
            rest = rest[end...]
        }
        guard take(":"), rest.isEmpty || rest.first == " " else { throw fault("a key ends with a colon and a space") }
        skipSpaces()
        return key
    }

    /// A value, which ends before one of the characters of `ends` if it is plain.
    private mutating func value(endsAt ends: String) throws(YAMLFault) -> String {
        if take("{") {
            let members = try members(until: "}") { reader throws(YAMLFault) in
                "\(try reader.key()):\(try reader.value(endsAt: ",}"))"
            }
            return "{\(members)}"
        }
        if take("[") {
            let items = try members(until: "]") { reader throws(YAMLFault) in try reader.value(endsAt: ",]") }
            return "[\(items)]"
        }
        if rest.first == "\"" { return try doubleQuoted() }
        let end = rest.firstIndex { ends.contains($0) } ?? rest.endIndex
        let text = rest[..<end]
        rest = rest[end...]
        return try Self.plain(text, line: line)
    }

    private mutating func members(
        until end: Character, _ member: (inout Self) throws(YAMLFault) -> String
    ) throws(YAMLFault) -> String {
        var members: [String] = []
        skipSpaces()
        while !take(end) {
            members.append(try member(&self))
            skipSpaces()
            guard take(",") || rest.first == end else { throw fault("a comma or \(end) is missing") }
            skipSpaces()
        }
        return members.joined(separator: ",")
    }

    /// A text in double quotation marks, which is the same in JSON.
    private mutating func doubleQuoted() throws(YAMLFault) -> String {
        let string = #/"(?:[^"\\\x00-\x1F]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"/#
        guard let text = rest.prefixMatch(of: string)?.output else {
            throw fault("a text does not end, or has an escape that JSON does not have")
        }
        rest = rest[text.endIndex...]
        return String(text)
    }

    /// A text without quotation marks: a number, a truth value or itself.
    private static func plain(_ text: Substring, line: Int) throws(YAMLFault) -> String {
        if text == "true" || text == "false" { return String(text) }
        if text.wholeMatch(of: #/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?/#) != nil { return String(text) }
        let others: Set = ["null", "yes", "no", "on", "off", "y", "n"]
        let isText = text.first.map { $0.isLetter || "_$/".contains($0) } ?? false
        guard isText, text.last != " ", !text.contains(": "), !text.contains(" #"), !others.contains(text.lowercased())
        else { throw YAMLFault(line: line, problem: "the text \(text) must be quoted") }
        return try quoted(text, line: line)
    }

    private mutating func take(_ character: Character) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

    private func fault(_ problem: String) -> YAMLFault { YAMLFault(line: line, problem: problem) }
}
