extension UInt8 {
    /// The lower case of a letter of ASCII; any other byte as it is.
    @inlinable package var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension String {
    /// The text with the letters of ASCII in lower case, and nothing else changed.
    package var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }
}
