/// Returns a YAML document as JSON, if the document has only the part of YAML that the description of the API needs.
///
/// That part is:
///
/// - block mappings, and block sequences of mappings or flow values, with spaces as indentation;
/// - flow mappings and flow sequences, `{…}` and `[…]`;
/// - double-quoted texts with the escapes of JSON, plain texts of one line, and folded texts of one paragraph (`>-`);
/// - numbers as JSON writes them, `true` and `false`.
///
/// A quoted text or a flow value may continue on lines with more indentation. Everything else is a fault, even where
/// YAML defines it: a plain text that some version of YAML reads as something else (`no`, `1_000`, `null`) must be
/// quoted. A value is therefore never read in another way than its writer meant.
struct YAMLReader {
    private struct Line {
        var number: Int
        var indentation: Int
        var text: Substring
    }

    private var lines: ArraySlice<Line>

    init(_ document: String) {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, text in
            let content = text.drop { $0 == " " }
            return Line(number: index + 1, indentation: text.count - content.count, text: content)
        }
        self.lines = lines.filter { !$0.text.isEmpty && !$0.text.hasPrefix("#") }[...]
    }

    /// The whole document as JSON, with the members of objects in the same order.
    mutating func json() throws(YAMLFault) -> String {
        guard let first = lines.first else { throw YAMLFault(line: 1, problem: "the document is empty") }
        let json = try block(indentedBy: first.indentation)
        if let rest = lines.first { throw YAMLFault(line: rest.number, problem: "the indentation fits no line above") }
        return json
    }

    // MARK: Blocks

    private static func isItem(_ line: Line) -> Bool { line.text.hasPrefix("- ") }

    private mutating func block(indentedBy indentation: Int) throws(YAMLFault) -> String {
        guard let first = lines.first, Self.isItem(first) else { return try mapping(indentedBy: indentation) }
        return try sequence(indentedBy: indentation)
    }

    private mutating func mapping(indentedBy indentation: Int) throws(YAMLFault) -> String {
        var members: [String] = []
        while let line = lines.first, line.indentation == indentation, !Self.isItem(line) {
            lines.removeFirst()
            var value = YAMLFlowReader(line.text, line: line.number)
            let key = try value.key()
            members.append("\(key):\(try self.value(value.rest, after: line))")
        }
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func sequence(indentedBy indentation: Int) throws(YAMLFault) -> String {
        var items: [String] = []
        while let line = lines.first, line.indentation == indentation, Self.isItem(line) {
            let content = line.text.dropFirst(2)
            if content.hasPrefix("{") || content.hasPrefix("[") || content.hasPrefix("\"") {
                lines.removeFirst()
                items.append(try value(content, after: line))
            } else {
                // The first member of a mapping stands beside the dash, the others below it.
                lines[lines.startIndex] = Line(number: line.number, indentation: indentation + 2, text: content)
                items.append(try mapping(indentedBy: indentation + 2))
            }
        }
        return "[\(items.joined(separator: ","))]"
    }

    /// The value that begins with `text`, the rest of `line`, and may continue on the lines below.
    private mutating func value(_ text: Substring, after line: Line) throws(YAMLFault) -> String {
        guard let next = lines.first, next.indentation > line.indentation else {
            guard !text.isEmpty else { throw YAMLFault(line: line.number, problem: "the value is missing") }
            return try YAMLFlowReader.value(text, line: line.number)
        }
        if text.isEmpty { return try block(indentedBy: next.indentation) }
        var parts: [Substring] = []
        while let next = lines.first, next.indentation > line.indentation {
            parts.append(next.text)
            lines.removeFirst()
        }
        if text == ">-" { return try YAMLFlowReader.quoted(parts.joined(separator: " ")[...], line: line.number) }
        guard let first = text.first, "\"{[".contains(first) else {
            throw YAMLFault(line: line.number, problem: "a plain text does not continue on another line: use >-")
        }
        let joined = parts.reduce(into: String(text)) { joined, part in
            // A backslash at the end of a line joins the text without a space.
            if joined.last == "\\" { joined.removeLast() } else { joined += " " }
            joined += part
        }
        return try YAMLFlowReader.value(joined[...], line: line.number)
    }
}

/// A document has something that ``YAMLReader`` does not read.
struct YAMLFault: Error, Equatable {
    var line: Int
    var problem: String
}
