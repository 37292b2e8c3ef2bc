import RandomTestSupport

/// SplitMix64: the same seed gives the same numbers.
struct SeededGenerator: RandomNumberGenerator {
    /// Seeds for a random test: some that are the same in every run, and a new one, which is printed; the given one alone
    /// where there is one.
    static func seeds(_ count: Int = 4, _ test: String = #fileID) -> [UInt64] {
        (TestSeed.given == nil ? Array(1..<UInt64(count)) : []) + [TestSeed.fresh((test))]
    }

    private var state: UInt64

    init(seed: UInt64) {
        self.state = seed
    }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: self.next()) }
    }

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
