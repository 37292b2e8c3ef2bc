import Testing

@testable import TerminalClient

@Suite struct KeyTests {
    private static let sequences: [(String, Key)] = [
        ("\u{1B}[A", .up), ("\u{1B}OB", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left), ("\u{1B}[5~", .pageUp),
        ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[4~", .end), ("\u{1B}[Z", .backTab), ("\t", .tab),
        ("\r", .enter), ("\u{7F}", .backspace), ("\u{1B}[3~", .delete), ("q", .character("q")), ("é", .character("é")),
        ("東", .character("東")), ("🎵", .character("🎵")), ("\u{0C}", .control("l")), ("\u{1B}[1;5A", .up),
    ]

    @Test func `keys are read, also where their bytes come one by one`() {
        for (text, key) in Self.sequences {
            var whole = KeyParser()
            #expect(whole.take(text.utf8) == [key])
            #expect(!whole.isWaiting)
            var parts = KeyParser()
            let keys = text.utf8.flatMap { parts.take([$0]) }
            #expect(keys == [key])
        }
    }

    @Test func `many keys at once are all read`() {
        var parser = KeyParser()
        let text = Self.sequences.map(\.0).joined()
        #expect(parser.take(text.utf8) == Self.sequences.map(\.1))
    }

    @Test func `an escape byte is the escape key once nothing follows`() {
        var parser = KeyParser()
        #expect(parser.take([0x1B]) == [])
        #expect(parser.isWaiting)
        #expect(parser.settle() == [.escape])
        #expect(parser.take([0x1B, 0x1B]) == [.escape])
    }

    @Test func `what is no key is dropped`() {
        var parser = KeyParser()
        #expect(parser.take([0xFF, 0xC0, 0x80, 0x00] + Array("\u{1B}[99~\u{1B}xa".utf8)) == [.character("a")])
        #expect(parser.take(Array("\u{1B}[".utf8) + Array(repeating: 0x31, count: 200)) == [])
        #expect(parser.take("b".utf8) == [.character("b")])
    }
}
