import Testing

@testable import EmbedDescriptionTool

/// `YAMLReader`: what it reads, and what it refuses instead of guessing.
@Suite struct YAMLReaderTests {
    private func json(_ yaml: String) throws(YAMLFault) -> String {
        var reader = YAMLReader(yaml)
        return try reader.json()
    }

    @Test func `mappings and sequences nest, as blocks and in lines`() throws {
        let yaml = """
            # A comment.
            paths:
              /v1/rooms/{room}:
                get: {tags: [a, b], "200": {$ref: "#/x"}, empty: [], none: {}}

              list:
                - name: limit
                  schema: {type: integer}
                - {a: 1}
                - [x]
            """
        let expected =
            ##"{"paths":{"/v1/rooms/{room}":{"get":{"tags":["a","b"],"200":{"$ref":"#/x"},"empty":[],"none":{}}},"##
            + #""list":[{"name":"limit","schema":{"type":"integer"}},{"a":1},["x"]]}}"#
        #expect(try json(yaml) == expected)
    }

    @Test func `scalars are texts, numbers or truth values`() throws {
        let yaml = #"""
            plain: A text with "marks", a \ and a colon:no, a comma
            quoted: "a \"b\" \\ \u0041 # :"
            folded: >-
              One line
              and another: "one".
            numbers: [0, -90, 1.5, 9007199254740991]
            truth: [true, false]
            version: "3.1.0"
            """#
        let expected =
            #"{"plain":"A text with \"marks\", a \\ and a colon:no, a comma","quoted":"a \"b\" \\ \u0041 # :","#
            + #""folded":"One line and another: \"one\".","numbers":[0,-90,1.5,9007199254740991],"#
            + #""truth":[true,false],"version":"3.1.0"}"#
        #expect(try json(yaml) == expected)
    }

    @Test func `quoted texts and flow values continue on lines with more indentation`() throws {
        let yaml = #"""
            pattern: "^[a\
              b]$"
            text: "one
              two"
            required: [a,
              b]
            """#
        #expect(try json(yaml) == #"{"pattern":"^[ab]$","text":"one two","required":["a","b"]}"#)
    }

    @Test(arguments: [
        "no", "Yes", "null", "~", "3.1.0", "1_000", "0x10", "007", "+1", "1e3", "2,048 bytes", "'text'", "a: b",
        "a #b", "*a", "&a b", "!a b", "| text", "%a", "@a", "- a", "? a", #""a\x41""#, #""open"#, "[a", "{a: 1",
        "{a 1}", "[a] b",
    ])
    func `a value that could be read in two ways is refused`(value: String) {
        #expect(throws: YAMLFault.self) { try json("key: \(value)") }
    }

    @Test func `a fault names its line`() {
        let faults: [(yaml: String, line: Int)] = [
            ("", 1), ("a: 1\nb:", 2), ("a: 1\n  b: 2", 1), ("a:\n    b: 1\n  c: 2", 3), ("a: 1\n\nb 2", 3),
            ("a:\n  - plain", 2), ("a: |\n  text", 1), ("a:\n\tb: 1", 1), ("200: a", 1), ("a:b", 1),
        ]
        for (yaml, line) in faults {
            let fault = #expect(throws: YAMLFault.self) { try json(yaml) }
            #expect(fault?.line == line, "\(yaml)")
        }
    }
}
