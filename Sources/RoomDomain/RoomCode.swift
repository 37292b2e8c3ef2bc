/// A room's code: six or eight characters of Crockford's base 32, to be read aloud and typed.
///
/// Unique among open rooms, which the caller that makes a room sees to. Six characters are 30 bits, about a thousand
/// million codes; eight are 40 bits, about a million million, for rooms that only those who were told shall find. Codes
/// of different lengths are different codes, whatever their numbers are.
package struct RoomCode: Hashable, Sendable, CustomStringConvertible {
    /// How many characters a code has.
    package enum Length: Int, Sendable, CaseIterable {
        case six = 6
        case eight = 8

        /// How many bits its characters hold.
        package var bits: Int { rawValue * 5 }
    }

    /// How many characters it has.
    package let length: Length
    /// The code's number, below two to the power of its bits; its first character stands for the five highest of them.
    package let value: UInt64

    /// The code of no room: `000000`.
    package static let zero = RoomCode(random: 0)

    /// The code that no room gets: `/v1/rooms/nearby` is a search, and so no room's path.
    private static let search = RoomCode("NEARBY")

    /// Takes the lowest of 64 random bits, as many as the code has; where they spell `NEARBY`, the code behind it.
    package init(random: UInt64, length: Length = .six) {
        let value = random & (1 << UInt64(length.bits) - 1)
        self.length = length
        self.value = length == .six && value == Self.search?.value ? value + 1 : value
    }

    /// Reads a code as people type it: case does not matter, O is read as 0, I and L as 1.
    ///
    /// Nil where the text is not exactly six or eight such characters.
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
    /// How long the code of a new room is: what no listing shows must not be found by guessing either.
    package var codeLength: RoomCode.Length {
        switch self {
        case .public: .six
        case .unlisted: .eight
        }
    }
}
