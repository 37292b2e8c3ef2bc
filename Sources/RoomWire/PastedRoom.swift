import RoomDomain

/// The room that is named by what somebody typed or pasted: a link to it, also among other words, else a code or an id
/// with any punctuation around it.
///
/// A code may be written in either case, with O for 0 and I or L for 1, and with blanks, dots and hyphens between its
/// characters; blanks and dots of a link end its code. Full width characters and percent codes are read as what they
/// stand for, and invisible ones not at all. The page reads alike; `Tests/Tables/room-links.json` has texts and rooms.
package struct PastedRoom: Sendable, Hashable {
    package let reference: RoomReference
    /// What stands before `/r/` in a link, such as `https://party.example` or `party.example`; nil where nothing does.
    package let server: String?

    /// What is looked at behind `/r/`.
    private static let longest = 64

    /// Reads a text; nil where it names no room.
    package init?(_ text: String) {
        let words = text.unicodeScalars.split { $0.properties.isWhitespace }.map { Self.plain($0) }
            .filter { !$0.isEmpty }
        // A link counts before what begins like the path of one.
        for needsLink in [true, false] {
            for word in words {
                for start in Self.paths(in: word) {
                    let link = Self.link(before: word[..<start])
                    guard link != nil || !needsLink else { continue }
                    guard let reference = Self.reference(behind: word[(start + 3)...]) else { continue }
                    self.reference = reference
                    server = Self.text(link ?? Self.host(before: word[..<start]))
                    return
                }
            }
        }
        var typed = Array(words.joined(separator: [" "]))[...]
        if words.count == 1 {
            typed = Self.bare(typed)
            if let short = Self.shortLink(typed) {
                self = short
                return
            }
            typed = typed.prefix { !Self.endsName($0) }
        }
        guard let reference = Self.typed(typed) else { return nil }
        self.reference = reference
        server = nil
    }

    private init?(code: Scalars, server: Scalars) {
        guard let reference = Self.code(code) else { return nil }
        self.reference = reference
        self.server = Self.text(server)
    }

    // MARK: - Characters

    private typealias Scalars = ArraySlice<Unicode.Scalar>

    /// A text without invisible characters and percent codes, and with ASCII in place of full width characters.
    private static func plain(_ text: Substring.UnicodeScalarView) -> [Unicode.Scalar] {
        String(decoding: decoded(Array(String(text).utf8)), as: UTF8.self).unicodeScalars
            .filter { !$0.properties.isDefaultIgnorableCodePoint }
            .map { (0xFF01...0xFF5E).contains($0.value) ? Unicode.Scalar($0.value - 0xFEE0) ?? $0 : $0 }
    }

    /// The bytes without percent codes (RFC 3986 §2.1); what is none stays.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "%"), place + 2 < bytes.count,
                let high = Character(Unicode.Scalar(bytes[place + 1])).hexDigitValue,
                let low = Character(Unicode.Scalar(bytes[place + 2])).hexDigitValue
            {
                decoded.append(UInt8(high << 4 | low))
                place += 3
            } else {
                decoded.append(bytes[place])
                place += 1
            }
        }
        return decoded
    }

    private static func isLetterOrNumber(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    private static func isASCIILetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && isLetterOrNumber(scalar)
    }

    /// A hyphen or a dash, as stands between the characters of a code.
    private static func isHyphen(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "-" || scalar == "_" || ("\u{2010}"..."\u{2014}").contains(scalar)
    }

    private static func text(_ scalars: Scalars?) -> String? {
        guard let scalars, !scalars.isEmpty else { return nil }
        return String(String.UnicodeScalarView(scalars))
    }

    // MARK: - Links

    /// The places of `/r/` in a word.
    private static func paths(in word: [Unicode.Scalar]) -> [Int] {
        word.indices.dropLast(2).filter {
            word[$0] == "/" && (word[$0 + 1] == "r" || word[$0 + 1] == "R") && word[$0 + 2] == "/"
        }
    }

    /// The link at the end of what stands before a path: `https://` or `http://`, and a host.
    private static func link(before path: Scalars) -> Scalars? {
        guard let slash = path.lastIndex(where: { endsHost($0) }), slash + 1 < path.endIndex else { return nil }
        let schemes = ["https://", "http://"]
        let end = (text(path[...slash].suffix(8)) ?? "").lowercased()
        return schemes.first { end.hasSuffix($0) }.map { path[(slash + 1 - $0.unicodeScalars.count)...] }
    }

    private static func endsHost(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "/" || scalar == "?" || scalar == "#" || scalar.properties.isWhitespace
    }

    /// The host of a link without a scheme, without what stands around the link.
    private static func host(before path: Scalars) -> Scalars? {
        guard !path.contains("/") else { return nil }
        let isBracketed = path.contains("]")
        return path.drop { !isLetterOrNumber($0) && !(isBracketed && $0 == "[") }
    }

    /// A whole link with nothing but a code behind the server.
    private static func shortLink(_ word: Scalars) -> PastedRoom? {
        var address = word.prefix { $0 != "?" && $0 != "#" }
        if address.last == "/" { address.removeLast() }
        guard let slash = address.lastIndex(of: "/"), let server = link(before: address[..<slash]),
            server.startIndex == address.startIndex, address[(slash + 1)...].allSatisfy({ isASCIILetterOrDigit($0) })
        else { return nil }
        return PastedRoom(code: address[(slash + 1)...], server: server)
    }

    // MARK: - Names

    /// The room that the rest of a link names.
    private static func reference(behind path: Scalars) -> RoomReference? {
        let start = path.prefix(longest).drop { !isLetterOrNumber($0) && !endsName($0) }
        return name(start.prefix { isASCIILetterOrDigit($0) || isHyphen($0) })
            ?? name(start.prefix { isASCIILetterOrDigit($0) })
            ?? typed(start.prefix { $0 != "/" && !endsName($0) })
    }

    private static func endsName(_ scalar: Unicode.Scalar) -> Bool { scalar == "?" || scalar == "#" || scalar == "&" }

    /// The room that a text names without a link.
    private static func typed(_ text: Scalars) -> RoomReference? {
        let bare = bare(text)
        return name(bare) ?? code(Scalars(bare.filter { $0 != "." && !$0.properties.isWhitespace }))
    }

    /// The text without punctuation at its ends.
    private static func bare(_ text: Scalars) -> Scalars {
        let end = text.lastIndex { isLetterOrNumber($0) }.map { $0 + 1 } ?? text.startIndex
        return text[..<end].drop { !isLetterOrNumber($0) }
    }

    private static func name(_ text: Scalars) -> RoomReference? {
        RoomID(Self.text(text) ?? "").map { .id($0) } ?? code(text)
    }

    /// The room of a code with hyphens.
    private static func code(_ text: Scalars) -> RoomReference? {
        guard let code = RoomCode(Self.text(Scalars(text.filter { !isHyphen($0) })) ?? ""), !code.isReserved else {
            return nil
        }
        return .code(code)
    }
}
