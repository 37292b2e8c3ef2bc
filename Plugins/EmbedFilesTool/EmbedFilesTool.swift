import Foundation

/// Writes files into a Swift file, as literals: `EmbedFilesTool FOLDER OUTPUT PATH…`, each path relative to the folder.
///
/// A file of UTF-8 becomes a string literal, any other file one of base 64. Array literals would take twenty times as
/// long to compile.
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
                    "text: \(literal(text))"
                } else {
                    "base64: \"\(bytes.base64EncodedString())\""
                }
            source += "        EmbeddedFile(\(literal(path)), \(content)),\n"
        }
        source += "    ]\n}\n"
        try Data(source.utf8).write(to: URL(filePath: output), options: .atomic)
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
