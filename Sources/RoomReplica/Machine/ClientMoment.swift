package import RoomDomain

/// An instant of a client's monotonic clock, which also counts while the device sleeps.
package struct ClientInstant: Hashable, Comparable, Sendable {
    /// Nanoseconds since an instant that is fixed while the program runs.
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant in fractional milliseconds, as exchanges of clocks have it.
    package var milliseconds: Double { Double(nanoseconds) / 1_000_000 }

    /// The instant this many milliseconds later; the last one that can be told, if that is beyond it.
    ///
    /// A server names some of these times: no number of it may stop the program.
    package func advanced(byMs milliseconds: Int64) -> Self {
        let (later, isTooFar) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflow) = nanoseconds.addingReportingOverflow(later)
        return Self(nanoseconds: isTooFar || overflow ? .max : sum)
    }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// What the world tells the machine with every input: two clocks, and a random number.
package struct ClientMoment: Sendable {
    /// The monotonic clock.
    package var instant: ClientInstant
    /// The device's wall clock; it dates only what is kept over a restart of the program.
    package var wall: Timestamp
    /// A random number, another one for every input.
    package var random: UInt64

    package init(instant: ClientInstant, wall: Timestamp, random: UInt64) {
        self.instant = instant
        self.wall = wall
        self.random = random
    }

    /// A random time of 0 … `limit` milliseconds, drawn from ``random``.
    func jitter(upToMs limit: Int64) -> Int64 { Int64(random % UInt64(limit + 1)) }

    /// The longest wait that a server may ask for: an hour, as long as the longest slow mode of a room.
    ///
    /// A server that names more is asked again then.
    static let longestAskedMs: Int64 = 3_600_000

    /// The instant after a wait that a server has named, or `usual`.
    func after(askedMs wait: Int?, usualMs usual: Int64) -> ClientInstant {
        instant.advanced(byMs: wait.map { min(Int64($0), Self.longestAskedMs) } ?? usual)
    }

    /// The same and a random part of up to as much as `usual`.
    func afterWait(ofMs wait: Int?, usualMs usual: Int64) -> ClientInstant {
        after(askedMs: wait, usualMs: usual).advanced(byMs: jitter(upToMs: usual))
    }
}
