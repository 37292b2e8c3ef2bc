import Foundation

/// Writes the description of the API into a Swift file, as JSON: `EmbedDescriptionTool YAML OUTPUT`.
@main
struct EmbedDescriptionTool {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let input = arguments.first, let output = arguments.dropFirst().first else {
            throw CocoaError(.fileNoSuchFile)
        }
        var reader = YAMLReader(try String(contentsOfFile: input, encoding: .utf8))
        let json: String
        do throws(YAMLFault) {
            json = try reader.json()
        } catch {
            print("\(input):\(error.line): error: \(error.problem)")
            exit(1)
        }
        // JSON has neither three quotation marks in a row nor a number sign after a backslash, so nothing needs an
        // escape in such a literal.
        let source = """
            /// The description of the HTTP API (OpenAPI 3.1), as `/openapi.json` serves it.
            enum APIDescription {
                /// Documentation/openapi.yaml as JSON.
                static let json = #\"""
                    \(json)
                    \"""#
            }

            """
        // The toolchain may run this although nothing has changed: then nothing is compiled again.
        let (bytes, file) = (Data(source.utf8), URL(filePath: output))
        guard (try? Data(contentsOf: file)) != bytes else { return }
        try bytes.write(to: file, options: .atomic)
    }
}
