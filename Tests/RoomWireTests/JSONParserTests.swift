import RandomTestSupport
import RoomWire
import Testing

@Suite struct JSONParserTests {
    private static func parse(_ text: String) throws(JSONViolation) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    private static let accepted: [(text: String, value: JSONValue)] = [
        ("null", .null), ("true", .bool(true)), ("false", .bool(false)), (" \t\r\n1 \t\r\n", .integer(1)),
        ("[]", .array([])), ("[ ]", .array([])), ("{}", .object(JSONObject())), ("{\n}", .object(JSONObject())),
        ("[1,2 , 3]", .array([.integer(1), .integer(2), .integer(3)])),
        ("[null,[[]]]", .array([.null, .array([.array([])])])),
        (#"{"a":1 , "b" : [true]}"#, object(("a", .integer(1)), ("b", .array([.bool(true)])))),
        (#"{"":""}"#, object(("", .string("")))),
        (#"{"a":1,"a":2}"#, object(("a", .integer(2)))),
        (#"{"\u0061":1}"#, object(("a", .integer(1)))),
    ]

    private static func object(_ members: (String, JSONValue)...) -> JSONValue {
        .object(JSONObject(members.map { JSONObject.Member(name: $0.0, value: $0.1) }))
    }

    @Test func `structures are read`() throws {
        for (text, value) in Self.accepted { #expect(try Self.parse(text) == value, "\(text)") }
    }

    @Test func `strings are read with all their escapes`() throws {
        let strings: [(String, String)] = [
            (#""""#, ""), (#""abc""#, "abc"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0000\u001f\u007F\u00e9\u20AC""#, "\0\u{1F}\u{7F}é€"), (#""\uD83C\uDfb9!""#, "🎹!"),
            (#""é№🎹""#, "é№🎹"),
            ("\"\u{7F}\u{80}\u{2028}\u{FEFF}\u{10FFFF}\"", "\u{7F}\u{80}\u{2028}\u{FEFF}\u{10FFFF}"),
            (#""\\u0041""#, "\\u0041"), (#""a\u0062c\u0064""#, "abcd"),
            (#""\uFFFF""#, Unicode.Scalar(0xFFFF as UInt16).map { String($0) } ?? ""),
            (#""\uE000\uD7FF""#, "\u{E000}\u{D7FF}"), (#""\uD800\uDC00\uDBFF\uDFFF""#, "\u{10000}\u{10FFFF}"),
        ]
        for (text, string) in strings {
            let read = try Self.parse(text).string
            #expect(read.map { Array($0.unicodeScalars) } == Array(string.unicodeScalars), "\(text)")
        }
    }

    @Test func `numbers that are integers are integers however they are written`() throws {
        let integers: [(String, Int64)] = [
            ("0", 0), ("1", 1), ("-1", -1), ("10", 10), ("1.0", 1), ("1e3", 1_000), ("1E+3", 1_000), ("1.5e1", 15),
            ("100e-2", 1), ("0.0", 0), ("0e5", 0), ("0e-5", 0), ("0E999999999999999999999", 0), ("-7.00", -7),
            ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9007199254740993", 9_007_199_254_740_993),
            ("9007199254740993.0", 9_007_199_254_740_993), ("9.223372036854775807e18", .max),
            ("1" + String(repeating: "0", count: 18), 1_000_000_000_000_000_000),
            ("1." + String(repeating: "0", count: 5_000), 1), ("1000" + "e-3", 1), ("12300000000000000000000e-20", 123),
            ("0.00000000000000000000000000012e29", 12),
        ]
        for (text, integer) in integers { #expect(try Self.parse(text) == .integer(integer), "\(text)") }
        #expect(try Self.parse("-0").integer == 0)
        #expect(try Self.parse("-0.0").number?.sign == .minus)
    }

    @Test func `other numbers are the nearest doubles`() throws {
        let numbers: [(String, Double)] = [
            ("0.5", 0.5), ("-0.1", -0.1), ("3.141592653589793", .pi), ("1e22", 1e22), ("1e23", 1e23),
            ("123e-7", 123e-7),
            ("5e-324", .leastNonzeroMagnitude), ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("9223372036854775808", 9_223_372_036_854_775_808), ("-9223372036854775809", -9_223_372_036_854_775_808),
            ("9007199254740993.5", 9_007_199_254_740_994), ("0.1e-1", 0.01), ("1e-400", 0),
            ("8.98846567431158e307", 8.98846567431158e307),
            ("2.2250738585072011e-308", Double(bitPattern: 0xF_FFFF_FFFF_FFFF)),
            ("123456789012345678901234567890", 0x1.8ee90ff6c373ep96),
            ("0." + String(repeating: "3", count: 400), 1.0 / 3), ("1" + String(repeating: "0", count: 300), 1e300),
            ("4503599627370497.5", 4_503_599_627_370_497.5), ("18446744073709551615", 0x1p64),
            ("18446744073709551616", 18_446_744_073_709_551_616), ("1e19", 1e19),
        ]
        for (text, number) in numbers { #expect(try Self.parse(text) == .number(number), "\(text)") }
    }

    @Test func `random doubles and integers are read as they were written`() throws {
        var random = SeededRandom(seed: TestSeed.fixed(11))
        for _ in 0..<20_000 {
            let bits = random.next()
            let double = Double(bitPattern: bits)
            if double.isFinite { #expect(try Self.parse(double.description).number == double) }
            let integer = Int64(bitPattern: bits) >> Int64(bits & 63)
            #expect(try Self.parse(String(integer)) == .integer(integer))
            let short = Double(integer % 100_000_000) / 1_000
            #expect(try Self.parse(short.description).number == short)
        }
    }

    private static let refused: [(text: String, violation: JSONViolation)] = [
        ("", .unexpectedEnd), (" ", .unexpectedEnd), ("[", .unexpectedEnd), ("[1", .unexpectedEnd),
        ("[1,", .unexpectedEnd), ("{", .unexpectedEnd), (#"{"a""#, .unexpectedEnd), (#"{"a":"#, .unexpectedEnd),
        (#"{"a":1"#, .unexpectedEnd), (#"{"a":1,"#, .unexpectedEnd), ("\"", .unexpectedEnd), ("\"a", .unexpectedEnd),
        (#""\"#, .unexpectedEnd), (#""\u12"#, .unexpectedEnd), (#""\uD800"#, .unexpectedEnd), ("tru", .unexpectedEnd),
        ("-", .unexpectedEnd), ("1.", .unexpectedEnd), ("1e", .unexpectedEnd), ("1e+", .unexpectedEnd),
        ("[,1]", .unexpectedByte(offset: 1)), ("[1,,2]", .unexpectedByte(offset: 3)),
        ("[1,]", .unexpectedByte(offset: 3)),
        ("[1 2]", .unexpectedByte(offset: 3)), ("[1}", .unexpectedByte(offset: 2)), ("]", .unexpectedByte(offset: 0)),
        ("{,}", .unexpectedByte(offset: 1)), (#"{"a":1,}"#, .unexpectedByte(offset: 7)),
        ("{1:2}", .unexpectedByte(offset: 1)),
        (#"{"a" 1}"#, .unexpectedByte(offset: 5)), (#"{"a"::1}"#, .unexpectedByte(offset: 5)),
        ("{a:1}", .unexpectedByte(offset: 1)),
        (#"{"a":1 "b":2}"#, .unexpectedByte(offset: 7)), ("{'a':1}", .unexpectedByte(offset: 1)),
        ("'a'", .unexpectedByte(offset: 0)),
        ("nul1", .unexpectedByte(offset: 3)), ("True", .unexpectedByte(offset: 0)), ("NaN", .unexpectedByte(offset: 0)),
        ("Infinity", .unexpectedByte(offset: 0)), ("-Infinity", .invalidNumber(offset: 0)),
        ("-NaN", .invalidNumber(offset: 0)),
        ("+1", .unexpectedByte(offset: 0)), (".5", .unexpectedByte(offset: 0)), ("// 1", .unexpectedByte(offset: 0)),
        ("\u{FEFF}1", .unexpectedByte(offset: 0)), ("\u{A0}1", .unexpectedByte(offset: 0)),
        ("\u{B}1", .unexpectedByte(offset: 0)),
        ("01", .invalidNumber(offset: 0)), ("-01", .invalidNumber(offset: 0)), ("00", .invalidNumber(offset: 0)),
        ("--1", .invalidNumber(offset: 0)), ("-a", .invalidNumber(offset: 0)), ("1.a", .invalidNumber(offset: 0)),
        ("1.e1", .invalidNumber(offset: 0)), ("1ea", .invalidNumber(offset: 0)), ("[1e-]", .invalidNumber(offset: 1)),
        ("1e400", .numberOutOfRange(offset: 0)), ("-1e400", .numberOutOfRange(offset: 0)),
        ("[1e99999999999999999999999]", .numberOutOfRange(offset: 1)),
        ("1" + String(repeating: "0", count: 309), .numberOutOfRange(offset: 0)),
        ("1 2", .trailingBytes(offset: 2)), ("nullx", .trailingBytes(offset: 4)), ("{}}", .trailingBytes(offset: 2)),
        ("[]]", .trailingBytes(offset: 2)), ("1\0", .trailingBytes(offset: 1)), ("0x10", .trailingBytes(offset: 1)),
        ("1_000", .trailingBytes(offset: 1)), (#""a""b""#, .trailingBytes(offset: 3)),
        ("1.5.5", .trailingBytes(offset: 3)),
        ("1e5e5", .trailingBytes(offset: 3)), ("2.0f", .trailingBytes(offset: 3)),
        ("\"a\nb\"", .controlCharacter(offset: 2)), ("\"\t\"", .controlCharacter(offset: 1)),
        ("\"\0\"", .controlCharacter(offset: 1)),
        ("\"\u{1F}\"", .controlCharacter(offset: 1)), (#"["\u00e9"# + "\n\"]", .controlCharacter(offset: 8)),
        (#""\a""#, .invalidEscape(offset: 1)), (#""\'""#, .invalidEscape(offset: 1)),
        (#""\U0041""#, .invalidEscape(offset: 1)),
        (#""\u00G0""#, .invalidEscape(offset: 1)), (#""\u 041""#, .invalidEscape(offset: 1)),
        (#""\x41""#, .invalidEscape(offset: 1)),
        (#""\u""#, .invalidEscape(offset: 1)), ("\"\\\n\"", .invalidEscape(offset: 1)),
        (#""\é""#, .invalidEscape(offset: 1)),
        (#""\uD800""#, .unexpectedEnd), (#""\uD800 x""#, .loneSurrogate(offset: 1)),
        (#""\uD800\n""#, .loneSurrogate(offset: 1)),
        (#""\uD800\u0041""#, .loneSurrogate(offset: 1)), (#""\uD800\uD800""#, .loneSurrogate(offset: 1)),
        (#""a\uDC00""#, .loneSurrogate(offset: 2)), (#""\uDFFF\uD800""#, .loneSurrogate(offset: 1)),
    ]

    @Test func `text outside the grammar is refused`() {
        for (text, violation) in Self.refused {
            #expect(throws: violation, "\(text)") { try Self.parse(text) }
        }
    }

    @Test func `strings that are not UTF-8 are refused`() {
        let bad: [[UInt8]] = [
            [0x80], [0xFF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
            [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xE2, 0x82], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x8E], [0xC3, 0x28], [0x61, 0xFE],
        ]
        for bytes in bad {
            let plain = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
            #expect(throws: JSONViolation.invalidUTF8(offset: 1), "\(bytes)") { try JSONValue(parsing: plain) }
            let escaped = Array(#"["\n"#.utf8) + bytes + Array("\"]".utf8)
            #expect(throws: JSONViolation.invalidUTF8(offset: 2), "\(bytes)") { try JSONValue(parsing: escaped) }
            let outside = Array("[".utf8) + bytes
            #expect(throws: JSONViolation.self, "\(bytes)") { try JSONValue(parsing: outside) }
        }
        // A scalar must not be composed of an escaped half and raw bytes of the other half.
        let halves = Array(#""\uD83C"#.utf8) + [0xED, 0xBE, 0xB9, UInt8(ascii: "\"")]
        #expect(throws: JSONViolation.loneSurrogate(offset: 1)) { try JSONValue(parsing: halves) }
    }

    @Test func `every text cut short is refused`() throws {
        let text = Array(#"{"a":[1.5e3,-2,"x\u00e9\uD83C\uDFB9",true,false,null,{}],"b":"c"}"#.utf8)
        _ = try JSONValue(parsing: text)
        for end in 0..<text.count {
            #expect(throws: JSONViolation.unexpectedEnd, "\(end)") { try JSONValue(parsing: text[..<end]) }
        }
    }

    @Test func `arrays and objects may be nested as deep as is allowed and no deeper`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                (String(repeating: #"[{"a":"#, count: depth / 2) + (depth % 2 == 0 ? "1" : "[]")
                    + String(repeating: "}]", count: depth / 2)).utf8)
        }
        _ = try JSONValue(parsing: nested(32))
        #expect(throws: JSONViolation.tooDeep(limit: 32)) { try JSONValue(parsing: nested(33)) }
        _ = try JSONValue(parsing: nested(5), maximumDepth: 5)
        #expect(throws: JSONViolation.tooDeep(limit: 4)) { try JSONValue(parsing: nested(5), maximumDepth: 4) }
        _ = try JSONValue(parsing: Array("[[],[],{},[[]]]".utf8), maximumDepth: 3)
        #expect(throws: JSONViolation.tooDeep(limit: 32)) {
            try JSONValue(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 100_000))
        }
        #expect(throws: JSONViolation.tooDeep(limit: 32)) { try JSONValue(parsing: nested(100_000)) }
    }

    @Test func `random bytes and changed texts never do worse than being refused`() throws {
        var random = SeededRandom(seed: TestSeed.fixed(12))
        let text = try Fixture.bytes("stored-state")
        let alphabet = Array(#"{}[],:"\u0123456789eE+-.truefalsn é"#.utf8)
        for _ in 0..<3_000 {
            var changed = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? JSONValue(parsing: changed)
            let soup = (0..<40).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
            _ = try? JSONValue(parsing: soup)
        }
    }

    @Test func `objects are equal whatever the order of their members`() throws {
        #expect(try Self.parse(#"{"a":1,"b":{"c":2,"d":3}}"#) == Self.parse(#"{"b":{"d":3,"c":2},"a":1.0}"#))
        #expect(try Self.parse(#"{"a":1}"#) != Self.parse(#"{"a":1,"b":null}"#))
        #expect(try Self.parse(#"{"a":9,"a":1}"#) == Self.parse(#"{"a":1}"#))
        #expect(try Self.parse("[1,2]") != Self.parse("[2,1]"))
    }

    @Test func `a value tells its own type and no other`() throws {
        let values = try Self.parse(#"[null,true,7,7.5,"s",[],{}]"#).array ?? []
        #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.integer) == [nil, nil, 7, nil, nil, nil, nil])
        #expect(values.map(\.number) == [nil, nil, 7, 7.5, nil, nil, nil])
        #expect(values.map(\.string) == [nil, nil, nil, nil, "s", nil, nil])
        #expect(values.map { $0.array != nil } == [false, false, false, false, false, true, false])
        #expect(values.map { $0.object != nil } == [false, false, false, false, false, false, true])
    }
}
