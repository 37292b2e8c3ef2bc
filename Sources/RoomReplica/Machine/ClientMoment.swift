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

    /// The instant this many milliseconds later.
    package func advanced(byMs milliseconds: Int64) -> Self {
        Self(nanoseconds: nanoseconds + milliseconds * 1_000_000)
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
}
