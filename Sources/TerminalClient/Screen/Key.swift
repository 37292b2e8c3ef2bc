/// A key, as a terminal tells it.
package enum Key: Sendable, Equatable {
    case up, down, left, right, pageUp, pageDown, home, end
    case tab, backTab, enter, escape, backspace, delete
    case character(Character)
    /// A letter with Ctrl, in lower case.
    case control(Character)
}

/// Reads keys from the bytes of a terminal.
///
/// A sequence may come in several pieces. An escape byte alone is the escape key, which only time tells: the caller
/// waits a moment after ``isWaiting`` and then calls ``settle()``.
package struct KeyParser: Sendable {
    private var waiting: [UInt8] = []

    package init() {}

    /// Whether the beginning of a sequence waits for more.
    package var isWaiting: Bool { !waiting.isEmpty }

    /// Takes bytes and returns the keys that are complete.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        waiting += bytes
        var keys: [Key] = []
        while !waiting.isEmpty {
            guard let (key, count) = Self.first(of: waiting) else { break }
            if let key { keys.append(key) }
            waiting.removeFirst(count)
        }
        // No sequence is as long as this.
        if waiting.count > 64 { waiting = [] }
        return keys
    }

    /// Nothing has followed: an escape byte was the escape key, and anything else is dropped.
    package mutating func settle() -> [Key] {
        defer { waiting = [] }
        return waiting.first == 0x1B ? [.escape] : []
    }

    /// The first key and its bytes, without a key for a sequence that is none; nil where bytes are missing.
    private static func first(of bytes: [UInt8]) -> (Key?, Int)? {
        let byte = bytes[0]
        switch byte {
        case 0x1B: return sequence(bytes)
        case 0x09: return (.tab, 1)
        case 0x0A, 0x0D: return (.enter, 1)
        case 0x08, 0x7F: return (.backspace, 1)
        case 0x01...0x1A: return (.control(Character(UnicodeScalar(byte + 0x60))), 1)
        case 0x00...0x1F: return (nil, 1)
        case 0x20..<0x7F: return (.character(Character(UnicodeScalar(byte))), 1)
        default: break
        }
        let count = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1
        guard count > 1, byte < 0xF5 else { return (nil, 1) }
        let rest = bytes.dropFirst().prefix(count - 1)
        guard rest.allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        guard rest.count == count - 1 else { return nil }
        guard let text = String(validating: bytes.prefix(count), as: UTF8.self), let character = text.first else {
            return (nil, 1)
        }
        // A control character of the second range is no key.
        return (TextWidth.of(character) > 0 ? .character(character) : nil, count)
    }

    /// ESC [ … final, or ESC O final (ECMA-48 §5.4, and the application mode of cursor keys).
    private static func sequence(_ bytes: [UInt8]) -> (Key?, Int)? {
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "O"):
            guard bytes.count > 2 else { return nil }
            return (cursor(bytes[2]), 3)
        case UInt8(ascii: "["):
            guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
            let parameter = bytes[2..<end].prefix { (0x30...0x39).contains($0) }
            guard bytes[end] == UInt8(ascii: "~") else { return (cursor(bytes[end]), end + 1) }
            let key: Key? =
                switch String(decoding: parameter, as: UTF8.self) {
                case "1", "7": .home
                case "3": .delete
                case "4", "8": .end
                case "5": .pageUp
                case "6": .pageDown
                default: nil
                }
            return (key, end + 1)
        case 0x1B: return (.escape, 1)
        // A key with Alt.
        default: return (nil, 2)
        }
    }

    private static func cursor(_ final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "Z"): .backTab
        default: nil
        }
    }
}
