import RoomDomain
import Testing

@Suite struct TextRuleTests {
    @Test func `white space at the ends is cut off, inside it stays`() {
        #expect(TextRule.accepted("\u{3000}\t a  b\u{A0}\n", length: 1...40) == "a  b")
    }

    @Test func `lengths count Unicode scalars`() {
        #expect(TextRule.accepted("e\u{301}", length: 1...1) == nil)
        #expect(TextRule.accepted("é", length: 1...1) == "é")
        #expect(TextRule.accepted("👩‍👩‍👧", length: 5...5) == "👩‍👩‍👧")
        #expect(TextRule.accepted(" \(String(repeating: "x", count: 40)) ", length: 1...40)?.count == 40)
        #expect(TextRule.accepted("", length: 1...40) == nil)
        #expect(TextRule.accepted("\u{2028}", length: 1...40) == nil)
    }

    @Test func `control characters and line separators are refused`() {
        let refused = Array(UInt32(0)..<0x20) + Array(0x7F...0x9F) + [0x2028, 0x2029]
        for value in refused {
            let scalar = Unicode.Scalar(value).map(String.init) ?? ""
            #expect(TextRule.accepted("a\(scalar)b", length: 1...40) == nil, "U+\(String(value, radix: 16))")
        }
        for allowed in ["\u{200B}", "\u{200D}", "\u{FEFF}", "\u{E000}", "\u{A0}", "\u{10FFFF}"] {
            #expect(TextRule.accepted("a\(allowed)b", length: 1...40) == "a\(allowed)b")
        }
    }
}
