/// A room's short code: six characters of Crockford's base 32, to be read aloud and typed.
///
/// Unique among open rooms, which is for who makes it to see to; 30 bits, so about a thousand million codes.
package struct RoomCode: Hashable, Sendable, CustomStringConvertible {
    /// The code's number, below 2^30; its first character stands for the five highest bits.
    package let value: UInt32

    /// The code of no room: `000000`.
    package static let zero = RoomCode(random: 0)

    /// What no room gets: `/v1/rooms/nearby` is a search, and so no room's path.
    private static let search = RoomCode("NEARBY")

    /// Takes the lowest 30 of 64 random bits; where they spell `NEARBY`, the code behind it.
    package init(random: UInt64) {
        let value = UInt32(truncatingIfNeeded: random) & 0x3FFF_FFFF
        self.value = value == Self.search?.value ? value + 1 : value
    }

    /// Reads a code as people type it: case does not matter, O is read as 0, I and L as 1.
    ///
    /// Nil where the text is not exactly six such characters.
    package init?(_ text: String) {
        guard text.utf8.count == 6 else { return nil }
        var value: UInt32 = 0
        for character in text.utf8 {
            guard let digit = Self.digit(of: character) else { return nil }
            value = value << 5 | digit
        }
        self.value = value
    }

    /// The six characters, in upper case.
    package var description: String {
        var text = ""
        for shift in stride(from: UInt32(25), through: 0, by: -5) {
            text.unicodeScalars.append(Unicode.Scalar(Self.alphabet[Int(value >> shift & 31)]))
        }
        return text
    }

    /// Crockford's base 32: the digits and letters without I, L, O, U.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private static func digit(of character: UInt8) -> UInt32? {
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 32 : character
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper).map(UInt32.init)
        }
    }
}
