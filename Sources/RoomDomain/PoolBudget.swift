import ByteText

/// The most bytes a pool may hold: a setting of the server that decides; folding a room's events does not use it.
package struct PoolBudget: Sendable, Equatable {
    /// The default: 8 MiB.
    ///
    /// 10,000 tracks in Devanagari with artwork take 5.1 MB.
    package static let defaultBytes = 8 << 20

    /// The limit of the sum of the tracks' charges (``Track/charge``), checked when tracks are added.
    ///
    /// A pool that is already larger stays as it is and cannot grow.
    package var bytes: Int

    package init(bytes: Int = PoolBudget.defaultBytes) {
        self.bytes = bytes
    }
}

extension Track {
    /// The charge for the name of a waveform, which a track may get later.
    package static let waveformCharge = 40

    /// The track's charge in bytes: the size of its JSON as the protocol has it in `State.pool` while it has no vote,
    /// plus ``waveformCharge``.
    ///
    /// Votes do not change the charge: `votes` and `requestedSeq` make a track's JSON at most 36 bytes longer, and
    /// `missing` 15 bytes. A measured length does, but it is never refused for that. O(length of its texts).
    package var charge: Int {
        var bytes = #"{"track":,"source":"","sourceId":"","title":"","addedBy":,"votes":0}"#.utf8.count
        bytes += Self.digits(id.rawValue) + Self.digits(addedBy.rawValue)
        bytes += Self.escaped(info.source) + Self.escaped(info.sourceID) + Self.escaped(info.title)
        if let artist = info.artist { bytes += #","artist":"""#.utf8.count + Self.escaped(artist) }
        if let album = info.album { bytes += #","album":"""#.utf8.count + Self.escaped(album) }
        if let durationMs = info.durationMs { bytes += #","durationMs":"#.utf8.count + Self.digits(Int(durationMs)) }
        if let url = info.artworkURL { bytes += #","artworkUrl":"""#.utf8.count + Self.escaped(url) }
        return bytes + Self.waveformCharge
    }

    private static func digits(_ number: Int) -> Int {
        var (count, rest) = (number < 0 ? 2 : 1, number.magnitude)
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }

    /// The size in bytes of a text in JSON, with the escapes that RFC 8259 §7 requires.
    private static func escaped(_ text: String) -> Int {
        let utf8 = text.utf8.contiguous.span
        var bytes = utf8.count
        for index in utf8.indices {
            switch utf8[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: bytes += 1
            case 0..<0x20: bytes += 5
            default: break
            }
        }
        return bytes
    }
}
