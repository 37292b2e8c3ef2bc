import FoundationEssentials
import RoomWire
import Testing

/// Documentation/Messages.md, compared with the golden files.
@Suite struct MessageTableTests {
    /// The types of each kind of message with their files.
    private typealias Table = [String: [String: Set<String>]]

    private static let kinds = ["client", "server", "command", "event"]

    private func documented() throws -> Table {
        let project = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = String(
            decoding: try Data(contentsOf: project.appending(path: "Documentation/Messages.md")), as: UTF8.self)
        var table: Table = [:]
        for row in page.split(separator: "\n") where row.hasPrefix("| `") && !row.hasPrefix("| `type` |") {
            let type = String(row.dropFirst(3).prefix { $0 != "`" })
            for link in row.split(separator: "](../Tests/RoomWireTests/Fixtures/").dropFirst() {
                let file = String(link.prefix { $0 != "." })
                table[String(file.prefix { $0 != "-" }), default: [:]][type, default: []].insert(file)
            }
        }
        return table
    }

    private func golden() throws -> Table {
        var table: Table = [:]
        for file in try Fixture.names() {
            let kind = String(file.prefix { $0 != "-" })
            guard Self.kinds.contains(kind) else { continue }
            let message = try JSONValue(parsing: try Fixture.bytes(file))
            let type = try #require(message.object?["type"]?.string, "\(file)")
            table[kind, default: [:]][type, default: []].insert(file)
        }
        return table
    }

    @Test func `the table names the golden files of every message, and no others`() throws {
        let table = try documented()
        let there = try golden()
        #expect(Set(table.keys) == Set(Self.kinds))
        for kind in Self.kinds {
            let rows = table[kind] ?? [:]
            let files = there[kind] ?? [:]
            #expect(Set(rows.keys) == Set(files.keys), "\(kind)")
            for (type, names) in files { #expect(rows[type] == names, "\(kind) \(type)") }
        }
    }
}
