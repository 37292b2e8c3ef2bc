extension UInt8 {
    /// The lower case of an ASCII letter; any other byte unchanged.
    @inlinable package var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension String {
    /// The text with ASCII letters in lower case, and everything else unchanged.
    package var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }
}
