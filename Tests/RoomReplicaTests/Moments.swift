import RoomDomain
import RoomReplica

extension ClientInstant {
    /// The instant this many milliseconds after the test's beginning.
    static func at(_ milliseconds: Int64) -> Self { Self(nanoseconds: milliseconds * 1_000_000) }
}

extension ClientMoment {
    /// The moment this many milliseconds after the test's beginning; the wall clock is ahead by an hour.
    static func at(_ milliseconds: Int64, random: UInt64 = 0) -> Self {
        Self(instant: .at(milliseconds), wall: Timestamp(milliseconds: milliseconds + 3_600_000), random: random)
    }
}
