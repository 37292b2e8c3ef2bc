/// A JSON text that is passed on unchanged: the server does not interpret it.
package struct RelayedJSON: Sendable {
    /// The largest size in bytes: enough for any offer or answer of a peer-to-peer connection.
    package static let sizeLimit = 65_536

    /// The text, without white space around it.
    package let text: [UInt8]

    /// Takes bytes that are known to be a JSON text.
    init(known text: [UInt8]) {
        self.text = text
    }

    /// Takes the bytes in the range `place` of a text, which are known to be a JSON text.
    init(known text: Span<UInt8>, at place: Range<Int>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(place.count)
        for index in place { bytes.append(text[index]) }
        self.text = bytes
    }

    /// Takes a text; nil if it is not JSON, or is too long.
    package init?(_ text: [UInt8]) {
        guard text.count <= Self.sizeLimit, (try? JSONValue(parsing: text)) != nil else { return nil }
        self.text = text
    }
}

extension RelayedJSON: Equatable {
    /// Whether both have the same meaning, however they are written.
    package static func == (left: Self, right: Self) -> Bool {
        left.text == right.text || (try? JSONValue(parsing: left.text)) == (try? JSONValue(parsing: right.text))
    }
}
