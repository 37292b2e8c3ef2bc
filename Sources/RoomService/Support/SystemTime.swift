import Glibc

/// The machine's clocks, in fractional milliseconds.
enum SystemTime {
    /// The wall clock, since the Unix epoch; it may step when the machine's time is set.
    static func wall() -> Double { milliseconds(of: CLOCK_REALTIME) }

    /// The time since the machine was started; it never goes back, and goes on while the machine sleeps.
    static func sinceBoot() -> Double { milliseconds(of: CLOCK_BOOTTIME) }

    // Foundation and the standard library make a number of 128 bits of a time first, and each event asks for two.
    private static func milliseconds(of clock: clockid_t) -> Double {
        var time = timespec()
        // Filled during the call. These clocks always exist.
        _ = unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1e6
    }
}
