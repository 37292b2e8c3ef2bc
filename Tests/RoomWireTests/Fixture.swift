import FoundationEssentials
import Testing

/// The golden texts: one file for each message, beside this one.
enum Fixture {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// The bytes of a file without the newline at its end.
    static func bytes(_ name: String) throws -> [UInt8] {
        let data = try Data(contentsOf: self.folder.appending(path: name + ".json"))
        return Array(data.last == UInt8(ascii: "\n") ? data.dropLast() : data)
    }

    /// The names of all files.
    static func names() throws -> Set<String> {
        let files = try FileManager.default.contentsOfDirectory(atPath: self.folder.path())
        return Set(files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) })
    }
}

/// Expects exactly the text of a fixture.
func expect(
    _ bytes: [UInt8], is fixture: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let golden = try Fixture.bytes(fixture)
    #expect(
        String(decoding: bytes, as: UTF8.self) == String(decoding: golden, as: UTF8.self), "\(fixture)",
        sourceLocation: sourceLocation)
}
