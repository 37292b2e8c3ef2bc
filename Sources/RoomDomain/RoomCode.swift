/// A room's code: six or eight characters of Crockford's base 32, to be read aloud and typed.
///
/// Codes are unique among open rooms; the caller that makes a room ensures it. Six characters are 30 bits, about 10^9
/// codes. Eight are 40 bits, about 10^12 codes, for rooms that only people who were told the code shall find. Codes of
/// different lengths are different codes, even if their numbers are equal.
package struct RoomCode: Hashable, Sendable, CustomStringConvertible {
    /// The number of characters in a code.
    package enum Length: Int, Sendable, CaseIterable {
        case six = 6
        case eight = 8

        /// The number of bits that the characters hold.
        package var bits: Int { rawValue * 5 }
    }

    /// The number of characters.
    package let length: Length
    /// The code's number, less than two to the power of its bits; the first character stands for the five highest bits.
    package let value: UInt64

    /// The code `000000`, which stands for no room.
    package static let zero = RoomCode(random: 0)

    /// The code that is never given to a room: the path `/v1/rooms/nearby` is a search and not a room.
    private static let search = RoomCode("NEARBY")

    /// Takes as many of the lowest bits of `random` as the code has; if they spell `NEARBY`, takes the next code.
    package init(random: UInt64, length: Length = .six) {
        let value = random & (1 << UInt64(length.bits) - 1)
        self.length = length
        self.value = length == .six && value == Self.search?.value ? value + 1 : value
    }

    /// Whether no room is ever given this code.
    package var isReserved: Bool { self == Self.search }

    /// Reads a code as people type it: case does not matter, O is read as 0, I and L as 1.
    ///
    /// Nil if the text is not exactly six or eight such characters.
    package init?(_ text: String) {
        guard let length = Length(rawValue: text.utf8.count) else { return nil }
        var value: UInt64 = 0
        for character in text.utf8 {
            guard let digit = Self.digit(of: character) else { return nil }
            value = value << 5 | digit
        }
        self.length = length
        self.value = value
    }

    /// The characters, in upper case.
    package var description: String {
        var text = ""
        for shift in stride(from: UInt64(length.bits - 5), through: 0, by: -5) {
            text.unicodeScalars.append(Unicode.Scalar(Self.alphabet[Int(value >> shift & 31)]))
        }
        return text
    }

    /// Crockford's base 32: the digits and letters without I, L, O, U.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private static func digit(of character: UInt8) -> UInt64? {
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 32 : character
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper).map(UInt64.init)
        }
    }
}

extension Visibility {
    /// The code length for a new room: rooms that no listing shows get a code too long to be found by guessing.
    package var codeLength: RoomCode.Length {
        switch self {
        case .public: .six
        case .unlisted: .eight
        }
    }
}
