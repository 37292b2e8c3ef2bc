import RandomTestSupport
import RoomDomain
import Testing

@Suite struct NameRuleTests {
    private static func accepted(_ name: String) -> String? { try? NameRule.accepted(name, length: 1...80) }

    private static func fault(_ name: String, length: ClosedRange<Int> = 1...80) -> NameRule.Fault? {
        do {
            _ = try NameRule.accepted(name, length: length)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "Ana", "Zoë", "O’Neill-Smith 3", "Łukasz", "Nguyễn Thị Minh", "Αλέξανδρος", "Ольга", "Գոռ", "თამარ",
        "אביגיל", "אביגיל\u{200F} (DJ)", "محمد", "مریم\u{200E}!", "فاطمه\u{200C}زهرا", "می\u{200C}خواهم",
        "ශ්\u{200D}රී", "क\u{94D}\u{200D}ष", "शर\u{94D}\u{200C}मा", "র\u{200D}\u{9CD}যাব", "രാജന\u{D4D}\u{200D}", "தமிழ்",
        "ไทย", "ខ្មែរ", "မြန်မာ", "བོད", "ᠮᠣᠩᠭᠣᠯ", "ᠠ\u{180B}", "አዲስ", "田中さん", "邉\u{E0104}", "김민준", "ㅋㅋ", "王小明",
        "👩‍👩‍👧‍👦", "❤\u{FE0F}", "☺\u{FE0E}", "👩‍❤\u{FE0F}‍👨", "🧔🏽‍♂\u{FE0F}", "🏳\u{FE0F}‍🌈", "🏴‍☠\u{FE0F}", "1\u{FE0F}\u{20E3}", "🇮🇸",
        "e\u{301}", "\u{600}12", "?", "\u{E000}", "⠃⠁⠉⠓",
    ])
    func `real names in many scripts are accepted as they are`(name: String) {
        #expect(Self.accepted(name) == name)
    }

    @Test(
        arguments: [
            0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E,
            0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2065, 0x2066, 0x2067, 0x2068, 0x2069, 0x206A, 0x206F, 0x3164,
            0xFE00, 0xFE0E, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFF9, 0xFFFA, 0xFFFB, 0x13430, 0x1BCA0, 0x1D173,
            0xE0080, 0xE0100, 0xE01EF,
        ] as [UInt32])
    func `invisible and reordering characters are removed anywhere`(value: UInt32) throws {
        let scalar = String(try #require(Unicode.Scalar(value)))
        for name in ["a\(scalar)b", "ab\(scalar)", "\(scalar)ab", "\(scalar) ab \(scalar)\(scalar)"] {
            #expect(Self.accepted(name) == "ab")
        }
        #expect(Self.fault(scalar) == .length(1...80))
    }

    @Test(
        arguments: [
            (0x00, "U+0000, which is a control character"), (0x09, "U+0009, which is a control character"),
            (0x85, "U+0085, which is a control character"), (0x2028, "U+2028, which is a control character"),
            (0x2029, "U+2029, which is a control character"), (0xE0001, "U+E0001, which is an invisible tag character"),
            (0xE0067, "U+E0067, which is an invisible tag character"),
        ] as [(UInt32, String)])
    func `a refused character is named`(value: UInt32, name: String) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(Self.fault("a\(scalar)b") == .character(scalar))
        #expect(Self.fault("a\(scalar)b")?.requirement == "not have " + name)
        #expect(NameRule.Fault.length(1...40).requirement == "have 1 to 40 characters, one of them visible")
    }

    @Test(arguments: [
        "", " ", "\u{200E}", "\u{200F}\u{200F}", "\u{301}", " \u{301}\u{302} ", "\u{2800}", "\u{2800} \u{2800}",
        "\u{A0}", "\u{3000}", "\u{1D159}", "\u{200E}\u{20E3}", "\u{903}", "\u{200B}", "\u{AD}\u{2060} \u{FEFF}",
    ])
    func `a name has something to see`(name: String) {
        #expect(Self.fault(name) == .length(1...80))
    }

    @Test(arguments: [
        ("a\u{200D}", "a"), ("\u{200D}a", "a"), ("a\u{200C}", "a"), ("\u{200C}a", "a"), ("a \u{200D}b", "a b"),
        ("a\u{200D} b", "a b"), ("a\u{200C}\u{200C}b", "a\u{200C}b"), ("a\u{200D}\u{200D}b", "a\u{200D}b"),
        ("a\u{200D}\u{200B}b", "a\u{200D}b"), ("1\u{200D}2", "12"), ("👩\u{200D}", "👩"), ("👩\u{200C}👧", "👩👧"),
        ("👩\u{200D}a", "👩a"), ("a\u{200D}👩", "a👩"), ("#\u{FE0F}", "#"), ("7\u{FE0F}", "7"),
        ("字\u{E0100}\u{E0100}", "字\u{E0100}"), ("字\u{FE03}", "字"), ("a\u{180B}", "a"),
    ])
    func `joiners and selectors stand only where they change what is seen`(text: String, name: String) {
        #expect(Self.accepted(text) == name)
    }

    @Test func `the flag of England is refused, since it would be another one without its tags`() {
        let flag = "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"
        #expect(Self.fault(flag) == .character("\u{E0067}"))
    }

    @Test func `white space is trimmed and the length counts scalars`() {
        #expect(Self.accepted("\u{3000} Ana\u{85}") == "Ana")
        #expect(Self.fault(String(repeating: "\u{1F3B8}", count: 40), length: 1...40) == nil)
        #expect(Self.fault(String(repeating: "\u{1F3B8}", count: 41), length: 1...40) == .length(1...40))
        #expect(Self.fault(String(repeating: "x\u{200B}", count: 40), length: 1...40) == nil)
    }

    /// Names of random scalars, with special characters often.
    private static func random(_ random: inout SeededRandom) -> String {
        let special: [UInt32] = [
            0x200B, 0x200C, 0x200D, 0x200E, 0x202E, 0x2066, 0xFE0F, 0xE0067, 0x3164, 0x301, 0x94D, 0x2800, 0x20, 0x31,
            0x61,
            0x915, 0x1F469, 0x2764, 0x645, 0x5D0, 0x8FBA, 0xE0100,
        ]
        var name = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let value =
                random.once(in: 3) ? UInt32.random(in: 0...0x10FFFF, using: &random) : random.pick(special, or: 0x61)
            if let scalar = Unicode.Scalar(value) { name.append(scalar) }
        }
        return String(name)
    }

    @Test func `an accepted name has no hidden character out of its place, and is accepted again`() {
        let seed = TestSeed.fixed(20)
        print("random names, seed \(seed)")
        var random = SeededRandom(seed: seed)
        var count = 0
        for _ in 0..<20_000 {
            let text = Self.random(&random)
            guard let name = Self.accepted(text) else { continue }
            count += 1
            #expect(Self.accepted(name) == name)
            // Only characters that show nothing have gone, and white space at the ends.
            var rest = name.unicodeScalars[...]
            for scalar in text.unicodeScalars {
                if scalar == rest.first {
                    rest.removeFirst()
                } else {
                    let properties = scalar.properties
                    #expect(
                        properties.isDefaultIgnorableCodePoint || properties.isWhitespace
                            || properties.generalCategory == .format || properties.isVariationSelector)
                }
            }
            #expect(rest.isEmpty)
            for scalar in name.unicodeScalars where scalar.properties.isBidiControl {
                #expect([0x200E, 0x200F].contains(scalar.value))
            }
            #expect(!name.unicodeScalars.contains { (0xE0000...0xE007F).contains($0.value) || $0.value == 0x200B })
            // Visible characters remain when invisible ones are removed.
            let seen = name.unicodeScalars.filter {
                !$0.properties.isDefaultIgnorableCodePoint && !$0.properties.isWhitespace && $0.value != 0x2800
            }
            #expect(!seen.isEmpty, "\(Array(name.unicodeScalars))")
        }
        #expect(count > 1_000)
    }
}
