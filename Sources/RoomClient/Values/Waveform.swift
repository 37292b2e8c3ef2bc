import RoomDomain

/// The shape of a song: 1,024 peaks and 1,024 RMS values, 0 … 255 each.
public struct Waveform: Sendable, Equatable {
    let domain: RoomDomain.Waveform

    init(_ domain: RoomDomain.Waveform) { self.domain = domain }

    /// Takes a song's values; nil unless there are 1,024 of each.
    public init?(peaks: [UInt8], levels: [UInt8]) {
        guard peaks.count == levels.count, let domain = RoomDomain.Waveform(data: peaks + levels) else { return nil }
        self.domain = domain
    }

    /// The greatest amplitudes, from the song's beginning to its end.
    public var peaks: [UInt8] { Array(domain.data.prefix(RoomDomain.Waveform.byteCount / 2)) }
    /// The RMS values, from the song's beginning to its end.
    public var levels: [UInt8] { Array(domain.data.suffix(RoomDomain.Waveform.byteCount / 2)) }
}

/// The name of a waveform, which always stands for the same bytes.
public struct WaveformName: Sendable, Hashable, CustomStringConvertible {
    let domain: RoomDomain.WaveformName

    init(_ domain: RoomDomain.WaveformName) { self.domain = domain }

    /// The name as text.
    public var description: String { domain.description }
}
