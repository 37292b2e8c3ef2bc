/// The identifiers in a Swift source, without those in comments and in the text of strings.
///
/// Code that is interpolated into a string counts. Regular expression literals are not supported.
func identifiers(in source: String) -> Set<String> {
    var reader = TokenReader(bytes: Array(source.utf8))
    reader.readAll()
    return reader.identifiers
}

/// The words, the punctuation marks and the line ends of a Swift source, in order, without comments.
///
/// A string is a pair of quotation marks, whatever it contains.
func tokens(in source: String) -> [String] {
    var reader = TokenReader(bytes: Array(source.utf8))
    reader.readAll()
    return reader.tokens
}

/// Reads a Swift source as far as needed to distinguish code from comments and strings.
private struct TokenReader {
    private enum Context {
        /// Code inside this many open parentheses.
        case code(parentheses: Int)
        /// A string that ends with `end`; `escape` begins an escape sequence.
        case string(end: [UInt8], escape: [UInt8])
    }

    /// Whether a byte can be part of an identifier.
    private static let isPartOfWord: [Bool] = (UInt8.min...UInt8.max).map { byte in
        byte >= 0x80 || byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    let bytes: [UInt8]
    private(set) var identifiers: Set<String> = []
    private(set) var tokens: [String] = []
    private var place = 0
    /// The enclosing contexts of the current position: strings, and code that is interpolated into them.
    private var contexts: [Context] = [.code(parentheses: 0)]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func readAll() {
        while place < bytes.count, let context = contexts.last {
            switch context {
            case .code(let parentheses): readCode(parentheses)
            case .string(let end, let escape): readText(end, escape)
            }
        }
    }

    private mutating func readCode(_ parentheses: Int) {
        let byte = bytes[place]
        if byte == UInt8(ascii: "/"), comes("//") {
            while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
        } else if byte == UInt8(ascii: "/"), comes("/*") {
            skipComment()
        } else if byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\""), let hashes = hashesOfString() {
            add("\"\"")
            let pounds = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
            place += hashes
            let quotes = Array((comes("\"\"\"") ? "\"\"\"" : "\"").utf8)
            place += quotes.count
            contexts.append(.string(end: quotes + pounds, escape: [UInt8(ascii: "\\")] + pounds))
        } else if Self.isPartOfWord[Int(byte)] {
            let start = place
            while place < bytes.count, Self.isPartOfWord[Int(bytes[place])] { place += 1 }
            let word = String(decoding: bytes[start..<place], as: UTF8.self)
            identifiers.insert(word)
            add(word)
        } else {
            place += 1
            let isMark = ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "`")].contains(byte)
            if isMark { add(String(decoding: [byte], as: UTF8.self)) }
            if byte == UInt8(ascii: "(") { enterParentheses(parentheses + 1) }
            guard byte == UInt8(ascii: ")") else { return }
            // The end of the interpolated code, or of parentheses within it.
            if parentheses == 0, contexts.count > 1 { contexts.removeLast() } else { enterParentheses(parentheses - 1) }
        }
    }

    private mutating func readText(_ end: [UInt8], _ escape: [UInt8]) {
        while place < bytes.count, bytes[place] != end[0], bytes[place] != escape[0] { place += 1 }
        if comes(end) {
            place += end.count
            contexts.removeLast()
        } else if comes(escape + [UInt8(ascii: "(")]) {
            place += escape.count + 1
            contexts.append(.code(parentheses: 0))
        } else {
            place += comes(escape) ? escape.count + 1 : 1
        }
    }

    /// Adds a token, unless it is inside a string.
    private mutating func add(_ token: String) {
        if contexts.count == 1 { tokens.append(token) }
    }

    private mutating func enterParentheses(_ count: Int) {
        contexts[contexts.count - 1] = .code(parentheses: count)
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if comes("/*") { (depth, place) = (depth + 1, place + 1) }
            if comes("*/") { (depth, place) = (depth - 1, place + 1) }
            place += 1
        } while depth > 0 && place < bytes.count
    }

    /// The number of `#` before the quotation mark of a string that begins here; nil if none begins.
    private func hashesOfString() -> Int? {
        let hashes = bytes[place...].prefix { $0 == UInt8(ascii: "#") }.count
        return bytes[(place + hashes)...].first == UInt8(ascii: "\"") ? hashes : nil
    }

    private func comes(_ text: String) -> Bool { comes(Array(text.utf8)) }

    private func comes(_ text: [UInt8]) -> Bool { bytes[place...].starts(with: text) }
}
