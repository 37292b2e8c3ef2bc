import FoundationEssentials

/// The machine's wall clock.
enum SystemTime {
    /// Fractional milliseconds since the Unix epoch; may step when the machine's time is set.
    static func millisecondsSinceEpoch() -> Double {
        Date().timeIntervalSince1970 * 1_000
    }
}
