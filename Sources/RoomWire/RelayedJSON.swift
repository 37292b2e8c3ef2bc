/// A JSON text that is passed on as it came: the server does not look inside.
package struct RelayedJSON: Sendable {
    /// How many bytes it may have: enough for any offer or answer of a peer-to-peer connection.
    package static let sizeLimit = 65_536

    /// The text, without white space around it.
    package let text: [UInt8]

    /// Takes bytes that are known to be a JSON text.
    init(known text: [UInt8]) {
        self.text = text
    }

    /// Takes the bytes at `place` of a text, which are known to be a JSON text.
    init(known text: Span<UInt8>, at place: Range<Int>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(place.count)
        for index in place { bytes.append(text[index]) }
        self.text = bytes
    }

    /// Takes a text; nil where it is no JSON, or too long.
    package init?(_ text: [UInt8]) {
        guard text.count <= Self.sizeLimit, (try? JSONValue(parsing: text)) != nil else { return nil }
        self.text = text
    }
}

extension RelayedJSON: Equatable {
    /// Whether both mean the same, however they are written.
    package static func == (left: Self, right: Self) -> Bool {
        left.text == right.text || (try? JSONValue(parsing: left.text)) == (try? JSONValue(parsing: right.text))
    }
}
