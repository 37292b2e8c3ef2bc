import FoundationEssentials
import RandomTestSupport
import RoomDomain
import RoomWire
import Testing

@Suite struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `commas stand between members and elements and nowhere else`() {
        let text = self.written { writer in
            writer.beginArray()
            writer.beginObject()
            writer.endObject()
            writer.beginObject()
            writer.member("a", 1)
            writer.name("b")
            writer.beginArray()
            writer.endArray()
            writer.member("c", raw: Array("[1]".utf8))
            writer.member("d", true)
            writer.endObject()
            writer.null()
            writer.bool(false)
            writer.string("s")
            writer.endArray()
        }
        #expect(text == #"[{},{"a":1,"b":[],"c":[1],"d":true},null,false,"s"]"#)
    }

    @Test func `members without a value are left out`() {
        let text = self.written { writer in
            writer.beginObject()
            writer.member("a", nil as Int?)
            writer.member("b", nil as String?)
            writer.member("c", nil as Double?)
            writer.member("d", nil as Bool?)
            writer.member("e", nil as Int64?)
            writer.member("f", nil as UUID?)
            writer.member("g", raw: nil)
            writer.endObject()
        }
        #expect(text == "{}")
    }

    @Test func `strings are escaped where they must be and only there`() {
        let strings: [(String, String)] = [
            ("", #""""#), ("abc/é🎹\u{7F}\u{2028}", "\"abc/é🎹\u{7F}\u{2028}\""),
            ("\"\\", #""\"\\""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\0\u{1}\u{1F}\u{10}", #""\u0000\u0001\u001f\u0010""#),
            ("é\n🎹", #""é\n🎹""#),
        ]
        for (string, text) in strings { #expect(self.written { $0.string(string) } == text) }
    }

    @Test func `integers are exact`() {
        for integer in [0, 1, -1, 9, 10, 99, 1_000, 1_732_200_000_000, Int64.max, .min, .max - 1, .min + 1] {
            #expect(self.written { $0.integer(integer) } == "\(integer)")
        }
    }

    @Test func `doubles are as short as they can be and read back as they were`() throws {
        let doubles: [(Double, String)] = [
            (0, "0"), (-0.0, "-0.0"), (1, "1"), (-5, "-5"), (0.5, "0.5"), (0.1 + 0.2, "0.30000000000000004"),
            (1_732_200_000_000.25, "1732200000000.25"), (9_007_199_254_740_991, "9007199254740991"),
            (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"), (0.000001, "1e-06"), (-2.175, "-2.175"),
        ]
        for (double, text) in doubles { #expect(self.written { $0.number(double) } == text) }
        var random = SeededRandom(seed: TestSeed.fixed(13))
        for _ in 0..<20_000 {
            let double = Double(bitPattern: random.next())
            guard double.isFinite else { continue }
            let read = try JSONValue(parsing: Array(self.written { $0.number(double) }.utf8))
            #expect(read.number?.bitPattern == double.bitPattern)
        }
    }

    @Test func `a value that is not a finite number cannot be written`() async {
        await #expect(processExitsWith: .failure) {
            var writer = JSONWriter()
            writer.number(.nan)
        }
    }

    @Test func `identifiers are written as they describe themselves`() {
        #expect(self.written { $0.uuid(Sample.room.uuid) } == "\"\(Sample.room)\"")
        #expect(self.written { $0.uuid(Sample.session(255).uuid) } == "\"\(Sample.session(255))\"")
    }

    @Test func `any string is read back as it was`() throws {
        var random = SeededRandom(seed: TestSeed.fixed(14))
        for _ in 0..<5_000 {
            var string = ""
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                let limit: UInt32 = random.once(in: 3) ? 0x10FFFF : 0x7F
                if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &random)) {
                    string.unicodeScalars.append(scalar)
                }
            }
            let read = try JSONValue(parsing: Array(self.written { $0.string(string) }.utf8)).string
            #expect(read.map { Array($0.utf8) } == Array(string.utf8))
        }
    }
}
