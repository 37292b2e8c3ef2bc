import Testing

/// The sizes of files in the targets that serve: each can be read as a whole.
@Suite struct SizeTests {
    private static let mostLines = 300

    @Test(arguments: ["RoomService", "PushServer"])
    func `no file has more than 300 lines`(name: String) throws {
        let target = try #require(try SourceTree.shared.targets.first { $0.name == name })
        #expect(target.files.count > 50)
        for (path, text) in target.files {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
            #expect(lines <= Self.mostLines, "\(path)")
        }
    }
}
