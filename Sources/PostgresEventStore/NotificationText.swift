import EventStorage

/// Splits messages of any length into notifications, whose payloads are bounded.
///
/// Each notification holds `number.part.parts|` and a piece of the message's text. The number makes every payload
/// different: PostgreSQL delivers only the first of several equal payloads in a transaction.
enum NotificationText {
    /// The most bytes of a piece.
    ///
    /// A payload must be shorter than 8,000 bytes (PostgreSQL documentation, NOTIFY); the rest is for the text before
    /// the piece.
    static let largestPiece = 7_900

    /// The payloads that carry a message, in order.
    static func payloads(of message: [UInt8], number: UInt32) -> [String] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = message[...]
        repeat {
            var piece = rest.prefix(largestPiece)
            // Each piece is valid text, so no piece ends within a scalar: bytes 10xxxxxx continue one.
            while piece.endIndex < rest.endIndex, rest[piece.endIndex] & 0xC0 == 0x80, piece.count > largestPiece - 4 {
                piece = piece.dropLast()
            }
            pieces.append(piece)
            rest = rest[piece.endIndex...]
        } while !rest.isEmpty
        return pieces.enumerated().map { index, piece in
            "\(number).\(index).\(pieces.count)|" + String(decoding: piece, as: UTF8.self)
        }
    }
}

/// Joins notifications into the messages that they carry.
///
/// Notifications of one sender arrive in the order in which they were sent; those of other senders may come between
/// them. A message with a missing part is dropped as a whole.
struct NotificationJoiner {
    /// A message of which some parts have arrived.
    private struct Beginning {
        var number: UInt32
        var next: Int
        var parts: Int
        var text: [UInt8]
    }

    /// The incomplete message of each sender, by the number of its PostgreSQL process.
    private var beginnings: [Int32: Beginning] = [:]
    /// The most incomplete messages at one time; a sender's notifications arrive together, so this is never approached.
    private static let limit = 64

    /// Returns the text of a message if this is its last piece.
    mutating func add(_ payload: [UInt8], from sender: Int32) -> [UInt8]? {
        let before = beginnings.removeValue(forKey: sender)
        guard let bar = payload.firstIndex(of: UInt8(ascii: "|")) else { return nil }
        let numbers = payload[..<bar].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let piece = payload[(bar + 1)...]
        guard numbers.count == 3, let number = UInt32(Self.text(numbers[0])), let part = Int(Self.text(numbers[1])),
            let parts = Int(Self.text(numbers[2]))
        else { return nil }
        var message: Beginning
        if part == 0 {
            message = Beginning(number: number, next: 0, parts: parts, text: [])
        } else if let before, before.number == number, before.next == part, before.parts == parts {
            message = before
        } else {
            return nil
        }
        guard message.text.count + piece.count <= NodeMessage.largestPayload else { return nil }
        message.text += piece
        message.next += 1
        if message.next == parts { return message.text }
        guard message.next < parts else { return nil }
        if beginnings.count >= Self.limit { beginnings = [:] }
        beginnings[sender] = message
        return nil
    }

    /// Drops incomplete messages: their remaining parts were lost.
    mutating func reset() {
        beginnings = [:]
    }

    private static func text(_ digits: ArraySlice<UInt8>) -> String {
        String(decoding: digits, as: UTF8.self)
    }
}
