import FoundationEssentials
import RoomDomain
import RoomTestSupport
import Testing

@Suite struct IdentifierTests {
    @Test func `a code is read in either case, with O as 0 and I and L as 1`() {
        #expect(RoomCode("0A1BZV")?.description == "0A1BZV")
        #expect(RoomCode("oalbzv") == RoomCode("0A1BZV"))
        #expect(RoomCode("OAIBZV") == RoomCode("0A1BZV"))
        #expect(RoomCode("oaibzv") == RoomCode("0A1BZV"))
        #expect(RoomCode("OAlBzV") == RoomCode("0A1BZV"))
    }

    @Test(arguments: [
        "", "0A1BZ", "0A1BZVV", "0A1BZVVVV", "0A1BZU", "0A1BZVVU", "u00000", "0A-BZV", " 0A1BZ", "0A1BZ ", "0A1BZÅ",
        "٠٠٠", "०००",
    ])
    func `any other text is not a code`(text: String) {
        #expect(RoomCode(text) == nil)
    }

    @Test func `every character of the alphabet is read as it is written`() {
        for value in 0..<UInt64(32) {
            let code = RoomCode(random: value << 25 | value)
            #expect(RoomCode(code.description) == code)
            #expect(RoomCode(code.description.lowercased()) == code)
        }
        #expect(RoomCode(random: 31 << 25).description == "Z00000")
        // 5-bit groups 1, 2, 3, 4, 5, 31, from the highest down.
        #expect(RoomCode(random: 1 << 25 | 2 << 20 | 3 << 15 | 4 << 10 | 5 << 5 | 31).description == "12345Z")
    }

    @Test func `a code takes 30 of 64 bits`() {
        #expect(RoomCode(random: .max).description == "ZZZZZZ")
        #expect(RoomCode(random: 1 << 30) == .zero)
        #expect(RoomCode.zero.description == "000000")
    }

    @Test func `a long code takes 40 of 64 bits, and is another than the short one of the same number`() {
        #expect(RoomCode(random: .max, length: .eight).description == "ZZZZZZZZ")
        #expect(RoomCode(random: 1 << 40, length: .eight).description == "00000000")
        #expect(RoomCode(random: 31 << 35 | 5, length: .eight).description == "Z0000005")
        #expect(RoomCode("oalbzvil")?.description == "0A1BZV11")
        #expect(RoomCode("000A1BZV") != RoomCode("0A1BZV"))
        #expect(RoomCode("00000000") != .zero)
        for value in 0..<UInt64(32) {
            let code = RoomCode(random: value << 35 | value, length: .eight)
            #expect(RoomCode(code.description.lowercased()) == code)
        }
    }

    @Test func `only the code of a room that no listing shows is long`() {
        #expect(Visibility.public.codeLength == .six)
        #expect(Visibility.unlisted.codeLength == .eight)
    }

    @Test func `no room gets NEARBY as its code`() throws {
        let word = try #require(RoomCode("nearby"))
        #expect(RoomCode(random: UInt64(word.value)).description == "NEARBZ")
        // The bits above the lowest 30 do not matter.
        #expect(RoomCode(random: UInt64(word.value) | 5 << 30).description == "NEARBZ")
        #expect(RoomCode(random: UInt64(word.value) - 1).description == "NEARBX")
        #expect(RoomCode(random: UInt64(word.value) + 1).description == "NEARBZ")
    }

    @Test func `a made UUID is the example of RFC 9562`() {
        // RFC 9562 appendix A.6: 2022-02-22 19:22:22 GMT, rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F.
        let uuid = UUID.makeV7(
            at: Timestamp(milliseconds: 0x017F_22E2_79B0), random: (0xCC3, 0x18C4_DC0C_0C07_398F))
        #expect(RoomID(uuid).description == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test func `random bits touch neither version nor variant, and strange times do not trap`() {
        let ones = RoomID(UUID.makeV7(at: Timestamp(milliseconds: .max), random: (.max, .max)))
        #expect(ones.description == "ffffffff-ffff-7fff-bfff-ffffffffffff")
        let before = RoomID(UUID.makeV7(at: Timestamp(milliseconds: -1), random: (0, 0)))
        #expect(before.description == "00000000-0000-7000-8000-000000000000")
    }

    @Test func `identifiers are read in either case and written in lower case`() {
        let text = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"
        #expect(RoomID(text)?.description == text.lowercased())
        #expect(SessionID(text.lowercased())?.description == text.lowercased())
        #expect(RoomID(text) == RoomID(text.lowercased()))
    }

    @Test(arguments: [
        "", "x", "017f22e279b07cc398c4dc0c0c07398f", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f ", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
    ])
    func `any other text is not an identifier`(text: String) {
        #expect(RoomID(text) == nil)
        #expect(SessionID(text) == nil)
    }
}
