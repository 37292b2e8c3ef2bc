import Foundation

/// Writes files into a Swift file, as literals: `EmbedFilesTool FOLDER OUTPUT PATH…`, each path relative to the folder.
///
/// A file of UTF-8 becomes a string literal, any other file one of base 64. Array literals would take twenty times as
/// long to compile. Scripts and style sheets are embedded without comments (``withoutComments(_:)``).
@main
struct EmbedFilesTool {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let folder = arguments.first, let output = arguments.dropFirst().first else {
            throw CocoaError(.fileNoSuchFile)
        }
        var source = "/// The files of the page.\nenum EmbeddedPages {\n    static let files: [EmbeddedFile] = [\n"
        for path in arguments.dropFirst(2) {
            let bytes = try Data(contentsOf: URL(filePath: folder).appending(path: path))
            let content =
                if let text = String(validating: bytes, as: UTF8.self) {
                    "text: \(literal(isCode(path) ? withoutComments(text) : text))"
                } else {
                    "base64: \"\(bytes.base64EncodedString())\""
                }
            source += "        EmbeddedFile(\(literal(path)), \(content)),\n"
        }
        source += "    ]\n}\n"
        // The toolchain may run this although nothing has changed: then nothing is compiled again.
        let (bytes, file) = (Data(source.utf8), URL(filePath: output))
        guard (try? Data(contentsOf: file)) != bytes else { return }
        try bytes.write(to: file, options: .atomic)
    }

    private static func isCode(_ path: String) -> Bool { path.hasSuffix(".js") || path.hasSuffix(".css") }

    /// A script or a style sheet without indentation and without the lines that hold only a comment.
    ///
    /// Such lines become empty, so that the line numbers of errors are those of the file in the tree. A comment begins
    /// with `//`, or with `/*` and ends with the line that ends with `*/`; one that ends before, as a type in front of an
    /// expression does, is code. The files have no such lines, and no indentation that counts, inside strings and
    /// templates: a test holds that.
    private static func withoutComments(_ text: String) -> String {
        var isComment = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            let line = line.trimming { $0 == " " }
            let end = line.range(of: "*/")?.upperBound ?? line.endIndex
            if line.hasPrefix("/*"), end == line.endIndex { isComment = true }
            let isKept = !isComment && !line.hasPrefix("//")
            if line.hasSuffix("*/") { isComment = false }
            return isKept ? String(line) : ""
        }
        return lines.joined(separator: "\n")
    }

    /// The text as a literal of one line that holds ASCII only.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case "\n": literal += "\\n"
            case " "..."~": literal.unicodeScalars.append(scalar)
            default: literal += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return literal + "\""
    }
}

extension Substring {
    /// The text without the characters at both ends that `isTrimmed` names.
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
        guard let last = lastIndex(where: { !isTrimmed($0) }) else { return "" }
        return self[...last].drop(while: isTrimmed)
    }
}
