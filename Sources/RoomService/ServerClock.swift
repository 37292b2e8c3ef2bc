package import RoomDomain

/// The server's clock: the wall's time as of a start, carried on by a clock that never steps back.
package struct ServerClock: Sendable {
    private let read: @Sendable () -> Double

    /// A clock that reads fractional milliseconds since the Unix epoch from `read`, which must never go back.
    package init(milliseconds read: @escaping @Sendable () -> Double) {
        self.read = read
    }

    /// The machine's clock.
    package static func system() -> ServerClock {
        let start = ContinuousClock.now
        let wall = SystemTime.millisecondsSinceEpoch()
        return ServerClock {
            let elapsed = (ContinuousClock.now - start).components
            return wall + Double(elapsed.seconds) * 1_000 + Double(elapsed.attoseconds) / 1e15
        }
    }

    /// Fractional milliseconds since the Unix epoch.
    package var milliseconds: Double { read() }

    /// Whole milliseconds since the Unix epoch.
    package var now: Timestamp { Timestamp(milliseconds: Int64(read())) }
}
