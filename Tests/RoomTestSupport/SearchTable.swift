import FoundationEssentials

/// What searches find and do not find: `Tests/Search/table.json`, which the tests of the page and of the program read too.
package struct SearchCase: Sendable, Decodable, CustomStringConvertible {
    package let title: String
    package let artist: String?
    package let album: String?
    package let query: String
    package let found: Bool

    package var description: String { "“\(query)” in “\(title)”" }

    package static func all() throws -> [SearchCase] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let table = folder.appending(path: "Search/table.json")
        return try JSONDecoder().decode([SearchCase].self, from: Data(contentsOf: table))
    }
}
