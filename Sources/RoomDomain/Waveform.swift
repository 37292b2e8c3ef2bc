import ByteText

/// The shape of a song: 1,024 peaks, then 1,024 RMS values, one byte each.
///
/// A command carries it and the store keeps it beside the log. Events and states hold its ``name`` only.
package struct Waveform: Sendable, Equatable {
    /// The number of its bytes.
    package static let byteCount = 2_048
    /// The number of characters of its bytes in base64url.
    package static let textLength = 2_731

    /// Its bytes, always ``byteCount`` of them.
    package let data: [UInt8]
    /// Its name, which follows from the bytes.
    package let name: WaveformName

    /// Nil if the number of bytes is not ``byteCount``.
    package init?(data: [UInt8]) {
        guard data.count == Self.byteCount else { return nil }
        self.data = data
        name = WaveformName(of: data)
    }

    /// Reads base64url without padding; nil for another alphabet or another length, and if the unused bits of the last
    /// character are not zero.
    package init?(text: String) {
        guard text.utf8.count == Self.textLength, let data = Base64.url.decode(text.utf8) else { return nil }
        // Of the last character, four bits of six are used.
        guard let last = text.utf8.last, "AEIMQUYcgkosw048".utf8.contains(last) else { return nil }
        self.init(data: data)
    }

    /// Its bytes in base64url without padding.
    package var text: String { Base64.url.encode(data) }
}

/// The name of a waveform: the first 16 bytes of the SHA-256 of its bytes.
///
/// Equal waveforms have the same name; nobody can make two different waveforms with the same name.
package struct WaveformName: Hashable, Sendable, Comparable {
    /// The number of characters of a name.
    package static let length = 22

    /// The bytes, most significant first.
    private let high: UInt64
    private let low: UInt64

    /// The name of a waveform's bytes.
    package init(of data: [UInt8]) {
        self.init(SHA256.hash(data).prefix(16))
    }

    /// Reads a name's 22 characters; nil for any other text, and if the unused bits of the last character are not zero.
    package init?(_ text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard characters.count == Self.length, let bytes = Base64.url.decode(characters) else { return nil }
        self.init(bytes[...])
        // Another text for the same bytes would be a second name.
        guard Array(description.utf8) == characters else { return nil }
    }

    private init(_ bytes: ArraySlice<UInt8>) {
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

extension WaveformName: CustomStringConvertible {
    /// The name in base64url without padding: 22 characters.
    package var description: String {
        let bytes = [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
        return Base64.url.encode(bytes)
    }
}

/// How often a track's waveform was set within an hour, which begins with the first of these events.
package struct WaveformHour: Hashable, Sendable {
    /// The length of the hour in milliseconds.
    package static let lengthMs: Int64 = 3_600_000

    /// The time of the first event.
    package var began: Timestamp
    /// The number of times that guests set it.
    package var byGuests: Int
    /// The number of times that the owner and DJs set it.
    package var byDJs: Int

    package init(began: Timestamp, byGuests: Int = 0, byDJs: Int = 0) {
        self.began = began
        self.byGuests = byGuests
        self.byDJs = byDJs
    }

    /// The milliseconds until the hour ends; 0 or less if it has ended.
    func rest(at now: Timestamp) -> Int64 { Self.lengthMs &- (now.milliseconds &- began.milliseconds) }
}
