import ByteText

/// Reads JSON text (RFC 8259) strictly: anything outside the grammar is refused.
///
/// Recursion is bounded by the maximum depth; every byte is examined a constant number of times. ``members(_:_:)`` and
/// ``elements(_:_:)`` hold the structure of objects and arrays, also for readers that make no values of them.
struct JSONParser {
    /// The offset of the next byte.
    var index = 0
    /// The number of open arrays and objects.
    private var depth = 0
    private let maximumDepth: Int
    /// The number of members for which memory may be reserved before they are read.
    ///
    /// Most objects then need one allocation. Each member that is read allows one more, so that a text of small objects
    /// takes at most twice the memory of its members.
    private var reservable = 16

    init(maximumDepth: Int) {
        self.maximumDepth = maximumDepth
    }

    /// Reads one value that fills the whole text.
    mutating func document(_ text: Span<UInt8>) throws(JSONViolation) -> JSONValue {
        self.skipWhiteSpace(text)
        let value = try self.value(text)
        self.skipWhiteSpace(text)
        guard self.index == text.count else { throw .trailingBytes(offset: self.index) }
        return value
    }

    /// The number that fills the whole of `text`, without white space; nil if it is anything else, or out of range.
    static func number(in text: Span<UInt8>) -> Double? {
        var parser = JSONParser(maximumDepth: 0)
        guard let value = try? parser.number(text), parser.index == text.count else { return nil }
        return value.number
    }

    /// The range in `text` of the value of an object's member, without the white space around it; nil if there is none.
    ///
    /// The last of several members with that name counts.
    static func place(of name: String, in text: Span<UInt8>) throws(JSONViolation) -> Range<Int>? {
        var parser = JSONParser(maximumDepth: JSONValue.usualMaximumDepth)
        parser.skipWhiteSpace(text)
        guard parser.index < text.count else { throw .unexpectedEnd }
        guard text[parser.index] == UInt8(ascii: "{") else { throw .unexpectedByte(offset: parser.index) }
        var place: Range<Int>?
        try parser.members(text) { (parser, text) throws(JSONViolation) in
            let isMeant = try parser.string(text) == name
            try parser.colon(text)
            let start = parser.index
            _ = try parser.value(text)
            if isMeant { place = start..<parser.index }
        }
        return place
    }

    private mutating func value(_ text: Span<UInt8>) throws(JSONViolation) -> JSONValue {
        guard self.index < text.count else { throw .unexpectedEnd }
        switch text[self.index] {
        case UInt8(ascii: "{"): return .object(try self.object(text))
        case UInt8(ascii: "["): return .array(try self.array(text))
        case UInt8(ascii: "\""): return .string(try self.string(text))
        case UInt8(ascii: "t"):
            try self.word("true", text)
            return .bool(true)
        case UInt8(ascii: "f"):
            try self.word("false", text)
            return .bool(false)
        case UInt8(ascii: "n"):
            try self.word("null", text)
            return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try self.number(text)
        default: throw .unexpectedByte(offset: self.index)
        }
    }

    // MARK: Structure

    private mutating func object(_ text: Span<UInt8>) throws(JSONViolation) -> JSONObject {
        var object = JSONObject()
        let reserved = min(8, self.reservable)
        self.reservable -= reserved
        object.members.reserveCapacity(reserved)
        try self.members(text) { (parser, text) throws(JSONViolation) in
            let name = try parser.string(text)
            try parser.colon(text)
            object.members.append(JSONObject.Member(name: name, value: try parser.value(text)))
        }
        self.reservable += object.members.count
        return object
    }

    private mutating func array(_ text: Span<UInt8>) throws(JSONViolation) -> [JSONValue] {
        var array: [JSONValue] = []
        try self.elements(text) { (parser, text) throws(JSONViolation) in array.append(try parser.value(text)) }
        return array
    }

    /// Reads an object, whose brace is the next byte; `member` reads one member, from the quotation mark of its name to
    /// the end of its value, with ``colon(_:)`` between the two.
    @inline(__always)
    mutating func members(
        _ text: Span<UInt8>, _ member: (inout JSONParser, Span<UInt8>) throws(JSONViolation) -> Void
    ) throws(JSONViolation) {
        try self.list(text, until: UInt8(ascii: "}")) { (parser, text) throws(JSONViolation) in
            guard parser.index < text.count else { throw .unexpectedEnd }
            guard text[parser.index] == UInt8(ascii: "\"") else { throw .unexpectedByte(offset: parser.index) }
            try member(&parser, text)
        }
    }

    /// Reads an array, whose bracket is the next byte; `element` reads one value.
    @inline(__always)
    mutating func elements(
        _ text: Span<UInt8>, _ element: (inout JSONParser, Span<UInt8>) throws(JSONViolation) -> Void
    ) throws(JSONViolation) {
        try self.list(text, until: UInt8(ascii: "]"), element)
    }

    /// Reads the colon between a member's name and its value.
    @inline(__always)
    mutating func colon(_ text: Span<UInt8>) throws(JSONViolation) {
        self.skipWhiteSpace(text)
        try self.expect(UInt8(ascii: ":"), text)
        self.skipWhiteSpace(text)
    }

    @inline(__always)
    private mutating func list(
        _ text: Span<UInt8>, until end: UInt8, _ part: (inout JSONParser, Span<UInt8>) throws(JSONViolation) -> Void
    ) throws(JSONViolation) {
        try self.open()
        self.skipWhiteSpace(text)
        if !self.take(end, text) {
            while true {
                try part(&self, text)
                self.skipWhiteSpace(text)
                guard self.take(UInt8(ascii: ","), text) else { break }
                self.skipWhiteSpace(text)
            }
            try self.expect(end, text)
        }
        self.depth -= 1
    }

    private mutating func open() throws(JSONViolation) {
        self.index += 1
        self.depth += 1
        guard self.depth <= self.maximumDepth else { throw .tooDeep(limit: self.maximumDepth) }
    }

    mutating func word(_ word: String, _ text: Span<UInt8>) throws(JSONViolation) {
        for letter in word.utf8 { try self.expect(letter, text) }
    }

    @inline(__always)
    private mutating func expect(_ byte: UInt8, _ text: Span<UInt8>) throws(JSONViolation) {
        guard self.index < text.count else { throw .unexpectedEnd }
        guard text[self.index] == byte else { throw .unexpectedByte(offset: self.index) }
        self.index += 1
    }

    @inline(__always)
    mutating func take(_ byte: UInt8, _ text: Span<UInt8>) -> Bool {
        guard self.index < text.count, text[self.index] == byte else { return false }
        self.index += 1
        return true
    }

    @inline(__always)
    mutating func skipWhiteSpace(_ text: Span<UInt8>) {
        // RFC 8259 §2: only these four characters are white space.
        while self.index < text.count,
            text[self.index] == 0x20 || text[self.index] == 0x0A || text[self.index] == 0x0D
                || text[self.index] == 0x09
        {
            self.index += 1
        }
    }

    // MARK: Strings

    mutating func string(_ text: Span<UInt8>) throws(JSONViolation) -> String {
        let start = self.index + 1
        self.index = start
        let isASCII = try self.skipPlain(text)
        if text[self.index] == UInt8(ascii: "\"") {
            let utf8 = text.extracting(start..<self.index)
            let string = try Self.validated(utf8, isKnownASCII: isASCII, offset: start)
            self.index += 1
            return string
        }
        var unescaped: [UInt8] = []
        var plain = start
        while true {
            for index in plain..<self.index { unescaped.append(text[index]) }
            guard text[self.index] == UInt8(ascii: "\\") else { break }
            try self.escape(text, into: &unescaped)
            plain = self.index
            _ = try self.skipPlain(text)
        }
        self.index += 1
        return try Self.validated(unescaped.contiguous.span, offset: start)
    }

    /// Moves to the next quotation mark or backslash; returns whether everything before it is ASCII.
    private mutating func skipPlain(_ text: Span<UInt8>) throws(JSONViolation) -> Bool {
        var index = self.index
        var bits: UInt8 = 0
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                self.index = index
                return bits < 0x80
            }
            guard byte >= 0x20 else { throw .controlCharacter(offset: index) }
            bits |= byte
            index += 1
        }
        throw .unexpectedEnd
    }

    /// The text of bytes; those that are known to be ASCII are not examined again.
    static func validated(
        _ utf8: Span<UInt8>, isKnownASCII: Bool = false, offset: Int
    ) throws(JSONViolation) -> String {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            var bytes: ContiguousArray<UInt8> = []
            bytes.reserveCapacity(utf8.count)
            for index in utf8.indices { bytes.append(utf8[index]) }
            guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8(offset: offset) }
            return text
        }
        // ASCII is valid UTF-8.
        if isKnownASCII { return String(copying: unsafe UTF8Span(unchecked: utf8, isKnownASCII: true)) }
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: utf8))
        } catch {
            throw .invalidUTF8(offset: offset)
        }
    }

    /// Reads one escape, whose backslash is the next byte.
    private mutating func escape(_ text: Span<UInt8>, into bytes: inout [UInt8]) throws(JSONViolation) {
        let start = self.index
        guard start + 1 < text.count else { throw .unexpectedEnd }
        self.index += 2
        switch text[start + 1] {
        case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "/"): bytes.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var code = try self.fourHexDigits(text, escapeAt: start)
            if (0xD800...0xDBFF).contains(code) {
                guard self.index + 1 < text.count else { throw .unexpectedEnd }
                guard text[self.index] == UInt8(ascii: "\\"), text[self.index + 1] == UInt8(ascii: "u") else {
                    throw .loneSurrogate(offset: start)
                }
                self.index += 2
                let low = try self.fourHexDigits(text, escapeAt: self.index - 2)
                guard (0xDC00...0xDFFF).contains(low) else { throw .loneSurrogate(offset: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw .loneSurrogate(offset: start) }
            bytes.append(contentsOf: String(scalar).utf8)
        default: throw .invalidEscape(offset: start)
        }
    }

    private mutating func fourHexDigits(_ text: Span<UInt8>, escapeAt offset: Int) throws(JSONViolation) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard self.index < text.count else { throw .unexpectedEnd }
            let digit: UInt8
            switch text[self.index] {
            case let byte where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): digit = byte - 0x30
            case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): digit = byte - 0x61 + 10
            case let byte where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): digit = byte - 0x41 + 10
            default: throw .invalidEscape(offset: offset)
            }
            code = code << 4 | UInt32(digit)
            self.index += 1
        }
        return code
    }
}
