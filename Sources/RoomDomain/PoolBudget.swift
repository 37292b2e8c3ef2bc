/// How much a pool may hold, in bytes: a setting of the server that decides, unknown to the fold of a room's events.
package struct PoolBudget: Sendable, Equatable {
    /// The default: 8 MiB.
    ///
    /// 10,000 tracks in Devanagari with artwork take 5.1 MB.
    package static let defaultBytes = 8 << 20

    /// The most that a pool's tracks are charged together (``Track/charge``) when one is added.
    ///
    /// A pool that is larger already stays, and cannot grow.
    package var bytes: Int

    package init(bytes: Int = PoolBudget.defaultBytes) {
        self.bytes = bytes
    }
}

extension Track {
    /// What is charged for the name of a waveform, which a track may get later.
    package static let waveformCharge = 40

    /// What the track is charged, in bytes: its JSON as the protocol has it in `State.pool` while it has no vote, and
    /// ``waveformCharge``.
    ///
    /// Votes change nothing: with `votes` and `requestedSeq` a track's JSON is at most 36 bytes longer. O(its texts).
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

    /// The bytes of a text in JSON, with the escapes that RFC 8259 §7 requires.
    private static func escaped(_ text: String) -> Int {
        let utf8 = text.utf8.span
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
