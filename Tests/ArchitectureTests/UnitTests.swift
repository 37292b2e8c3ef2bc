import Testing

/// A target's units build on each other without circles, so that each can be understood, tested and moved without the
/// units that use it.
@Suite struct UnitTests {
    @Test(arguments: ["RoomService", "PushServer"])
    func `units do not use each other in a circle`(name: String) throws {
        let target = try #require(try SourceTree().targets.first { $0.name == name })
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

    @Test func `comments, strings and private types are no use of a unit`() {
        let graph = UnitGraph(files: [
            "Upper.swift": "struct Upper { let lower: Lower }\nprivate struct Handler {}",
            "Lower.swift": """
            // As Upper has it.
            /* Upper, /* Upper */ Upper */
            struct Lower {
                struct Handler {}
                let text = "Upper, \\"Upper\\"", raw = #"\\(Upper) " Upper"#
            }
            """,
        ])
        #expect(graph.circles.isEmpty)
    }

    @Test func `identifiers are found whatever stands around them`() {
        let source = ##"""
            let a = "text \(b(c, "more \(d) text") + e) text" + #"\(text) " \#(f)"# + g // text
            let h = """
                text "text" \(i)
                """, j = k/* text */.l
            """##
        #expect(identifiers(in: source) == Set("let a b c d e f g h i j k l".split(separator: " ").map { String($0) }))
    }
}
