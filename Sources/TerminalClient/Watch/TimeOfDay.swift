import Glibc
import RoomClient

/// Times of day where the user is.
enum TimeOfDay {
    /// `14:03:22`.
    static func text(_ instant: ServerTime) -> String {
        var seconds = time_t(instant.milliseconds / 1_000)
        var parts = unsafe tm()
        // Both structures are used during the call only.
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "?" }
        let numbers = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec]
        return numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    /// The device's date, for as long as the server's is not known.
    static var now: ServerTime {
        var now = timespec()
        // The structure is filled during the call.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
        return ServerTime(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000)
    }
}
