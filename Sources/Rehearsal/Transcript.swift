import RoomWire

/// What happened in a conversation, for somebody who looks for the reason of a failure.
struct Transcript: Sendable {
    /// The most lines, and the longest text of one.
    private static let mostLines = 2_000
    private static let longestText = 600

    private(set) var lines: [String] = []

    mutating func note(_ text: String, at milliseconds: Int64) {
        guard lines.count < Self.mostLines else { return }
        let time = String(milliseconds)
        let padding = String(repeating: " ", count: max(0, 7 - time.count))
        lines.append("\(padding)\(time) ms  \(text.prefix(Self.longestText))")
    }

    mutating func note(_ text: String, _ value: JSONValue, at milliseconds: Int64) {
        note("\(text) \(Self.text(value))", at: milliseconds)
    }

    /// A value as JSON text.
    static func text(_ value: JSONValue) -> String { String(decoding: bytes(value), as: UTF8.self) }

    /// A value as JSON text.
    static func bytes(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(value)
        return writer.bytes
    }
}
