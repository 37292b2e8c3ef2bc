import Testing

@testable import TerminalClient

@Suite struct TextTests {
    @Test(arguments: [
        ("plain", "plain"), ("two\nlines", "two lines"), ("\u{1B}[2J\u{1B}]0;title\u{7}x", "[2J]0;titlex"),
        ("\u{9B}31mred\u{9D}", "31mred"), ("a\u{202E}b\u{2066}c\u{200F}\u{61C}d", "abcd"),
        ("tab\there", "tab here"), ("soft\u{AD}hyphen\u{FEFF}", "softhyphen"), ("a\u{2028}b", "a b"),
        ("flag \u{1F3F4}\u{E0067}\u{E007F}", "flag \u{1F3F4}"), ("क्‍ष", "क्‍ष"), ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("\u{3164}x\u{115F}", "x"), ("", ""),
    ])
    func `nothing that a terminal carries out is left`(text: String, safe: String) {
        #expect(SafeText.line(text) == safe)
    }

    @Test func `marks do not pile up over other lines`() {
        let tower = "e" + String(repeating: "\u{301}", count: 50)
        #expect(SafeText.line(tower).unicodeScalars.count == 1 + SafeText.mostMarks)
    }

    @Test(arguments: [
        ("Für Elise – “live”…", "Fur Elise - \"live\"..."), ("Łódź", "Lodz"), ("東京", "??"), ("e\u{301}", "e"),
        ("\u{1B}[31m", "[31m"), ("Æther ß", "AEther ss"),
    ])
    func `ASCII keeps letters without their accents`(text: String, ascii: String) {
        #expect(SafeText.ascii(text) == ascii)
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("東京", 4), ("ﾊﾝ", 2), ("한글", 4), ("🎵", 2), ("👨‍👩‍👧", 2),
        ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("1️⃣", 2), ("▁█", 2), ("مرحبا", 5), ("：", 2), ("\u{200B}", 0),
    ])
    func `widths are those of terminals`(text: String, width: Int) {
        #expect(TextWidth.of(text) == width)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abc def", 5, "abc…"), ("東京都", 5, "東京…"),
        ("東京都", 4, "東…"), ("東京都", 6, "東京都"), ("abc", 1, "a"), ("東", 1, ""), ("abc", 0, ""), ("abc", -3, ""),
    ])
    func `a text is cut between characters, with an ellipsis`(text: String, width: Int, fitted: String) {
        let cut = TextWidth.fitted(text, to: width)
        #expect(cut.text == fitted)
        #expect(cut.width == TextWidth.of(fitted))
        #expect(cut.width <= max(0, width))
    }

    @Test(arguments: [
        (Duration.seconds(0), "0:00"), (.seconds(65), "1:05"), (.seconds(3_723), "1:02:03"), (.seconds(-5), "0:00"),
    ])
    func `durations are minutes and seconds`(duration: Duration, text: String) {
        #expect(ClockText.of(duration) == text)
    }

    @Test(arguments: [
        ("3:45", Duration.seconds(225)), ("225", .seconds(225)), ("1:02:03", .seconds(3_723)), ("0:05", .seconds(5)),
    ])
    func `durations are read`(text: String, duration: Duration) {
        #expect(ClockText.duration(text) == duration)
    }

    @Test(arguments: ["", ":", "3:5", "3:60", "a", "-3:45", "1:2:3:4", "3:45 ", "99999999"])
    func `other texts are no durations`(text: String) {
        #expect(ClockText.duration(text) == nil)
    }

    @Test func `JSON is exact, and harmless in a terminal`() {
        let value = SafeJSON.fields([
            "title": .text("a\"\\\u{1B}\u{9B}\u{202E}\n\u{2028}é🎵"), "nothing": nil, "n": .number(-3),
            "yes": .bool(true),
            "list": .list([.null, .decimal(1.5)]),
        ])
        #expect(
            value.line
                == #"{"title":"a\"\\\u001b\u009b\u202e\n\u2028é🎵","n":-3,"yes":true,"list":[null,1.5]}"#)
    }

    @Test func `a failure's message cannot move the cursor`() {
        #expect(TerminalFailure(message: "two\n  \u{1B}[2Jlines", exitCode: 1).text == "two\n  [2Jlines")
    }
}
