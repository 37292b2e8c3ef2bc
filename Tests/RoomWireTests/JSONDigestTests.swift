import Testing

@testable import RoomWire

@Suite struct JSONDigestTests {
    private func digest(_ text: String) -> UInt64? { JSONDigest.of(Array(text.utf8).span) }

    @Test(arguments: [
        (#"{"a":1,"b":[true,null]}"#, #" { "b" : [ true , null ] , "a" : 1 } "#),
        (#"{"a":{"x":1,"y":2}}"#, #"{"a":{"y":2,"x":1}}"#),
        (#""é\n/""#, #""\u00e9\u000a\/""#),
        (#""🎹""#, #""\ud83c\udfb9""#),
        ("1", "1.0"), ("1", "1e0"), ("-17", "-1.7e1"), ("0", "-0.0"), ("0.5", "5e-1"), ("100000", "1E5"),
        ("9007199254740993", "9007199254740993"), ("1.50", "1.5"), ("[]", "[ ]"), ("{}", "{\n}"),
    ])
    func `texts with the same meaning have the same digest`(one: String, other: String) throws {
        let expected = try #require(digest(one))
        #expect(expected == digest(other))
    }

    @Test func `texts with different meanings have different digests`() throws {
        let texts = [
            "null", "true", "false", "0", "1", "-1", "10", "0.1", "\"\"", "\"1\"", "\"null\"", "[]", "{}", "[[]]",
            "[{}]",
            "[1,2]", "[2,1]", "[12]", #"["1,2"]"#, #"{"a":1}"#, #"{"a":2}"#, #"{"b":1}"#, #"{"a":1,"b":1}"#,
            #"{"a":{"b":1}}"#, #"{"a":"b"}"#, #"{"b":"a"}"#, #"{"a":[]}"#, #"["a","b"]"#, #"["ab"]"#, #"["a",["b"]]"#,
        ]
        #expect(Set(try texts.map { try #require(digest($0)) }).count == texts.count)
    }

    /// Digests are stored in the rows of every log.
    @Test(
        arguments: [
            ("1", 13_870_949_204_176_863_839), ("0", 7_572_699_824_178_252_942), ("-5", 6_556_910_649_877_076_485),
            ("123456789012345678", 4_324_785_482_809_019_293), ("1234567890123456789", 12_233_303_404_245_396_426),
            ("1.5e3", 998_260_806_619_494_655), ("[]", 2_414_837_630_091_827_887), ("{}", 14_945_827_867_235_244_975),
            ("null", 16_055_097_830_792_575_563), ("true", 14_635_775_238_389_488_812),
            (#""""#, 14_456_170_724_641_860_125),
            (
                #"{"a":"x\u00e9\n","b":{"c":[true,false,null,1e3,-0.0,12345678901234567890]}}"#,
                13_149_911_224_536_908_653
            ),
        ] as [(String, UInt64)])
    func `the digest of a text never changes`(text: String, expected: UInt64) {
        #expect(digest(text) == expected)
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1", "[1,]", "[,1]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#, #"{"a" 1}"#, "\"",
        "\"\\",
        "\"\\x\"", #""\ud83c""#, "01", "-", "+1", "1.", ".5", "1e", "tru", "nul", "1 2", #"{"a":1}x"#, "'a'",
        String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
    ])
    func `a text that is not JSON has no digest`(text: String) {
        #expect(digest(text) == nil)
    }
}
