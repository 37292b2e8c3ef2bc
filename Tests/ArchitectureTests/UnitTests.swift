import Testing

/// A target's units build on each other without circles, so that each can be understood, tested and moved without the
/// units that use it.
@Suite struct UnitTests {
    @Test(arguments: ["RoomService", "PushServer"])
    func `units do not use each other in a circle`(name: String) throws {
        let target = try #require(try SourceTree.shared.targets.first { $0.name == name })
        let graph = UnitGraph(files: target.files)
        #expect(graph.uses.count > 30)
        for circle in graph.circles { Issue.record("\(name):\n\(graph.description(of: circle))") }
    }

    @Test func `a circle is found, through other units and files of an aspect`() {
        let graph = UnitGraph(files: [
            "Upper.swift": "struct Upper { let middle: Middle }",
            "Parts/Middle.swift": "@frozen package final class Middle { let lower = [Lower]() }",
            "Parts/Lower.swift": "enum Lower {}",
            "Parts/Lower+Text.swift": #"extension Lower { var text: String { "it is \(Upper.self)" } }"#,
            "Apart.swift": "struct Apart { let upper: Upper }",
        ])
        #expect(graph.circles == [["Lower", "Middle", "Upper"]])
        #expect(
            graph.description(of: ["Lower", "Middle", "Upper"])
                == "Lower uses Upper: Upper\nMiddle uses Lower: Lower\nUpper uses Middle: Middle")
    }
}
