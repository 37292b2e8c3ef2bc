/// Times as people read them.
enum ClockText {
    /// A duration as `3:05` or `1:02:03`; a negative one as `0:00`.
    static func of(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let rest = two(seconds % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(rest)" : "\(minutes):\(rest)"
    }

    /// Reads `225`, `3:45` or `1:02:03`; nil for any other text.
    static func duration(_ text: String) -> Duration? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var seconds = 0
        for (place, part) in parts.enumerated() {
            guard (1...6).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(part), place == 0 || (number < 60 && part.utf8.count == 2)
            else { return nil }
            seconds = seconds * 60 + number
        }
        return .seconds(seconds)
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
