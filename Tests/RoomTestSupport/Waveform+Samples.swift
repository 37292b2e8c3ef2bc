package import RoomDomain

extension Waveform {
    /// A few waveforms, each of one byte's value: random commands choose from them, so that tracks share some.
    package static let samples: [Waveform] = (0..<6).compactMap { number in
        Waveform(data: Array(repeating: number * 40, count: byteCount))
    }
}
