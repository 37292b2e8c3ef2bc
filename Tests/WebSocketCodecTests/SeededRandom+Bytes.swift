import RandomTestSupport

extension SeededRandom {
    /// `bytes` in pieces of random length, some of them empty.
    mutating func pieces(of bytes: [UInt8], longest: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 0...longest, using: &self))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }

    /// Text with scalars of every length in UTF-8.
    mutating func text(longest: Int) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...longest, using: &self) {
            let greatest: UInt32 = [0x7F, 0x7FF, 0xFFFF, 0x10FFFF].randomElement(using: &self) ?? 0x7F
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...greatest, using: &self)) { text.append(scalar) }
        }
        return String(text)
    }
}
