package import NIOCore
package import RoomDomain

/// The server's clock: the wall clock's time at the start, continued by a clock that never steps back.
package struct ServerClock: Sendable {
    private let read: @Sendable () -> Double
    private let wait: @Sendable (TimeAmount) async -> Void

    /// Makes a clock from `read`, which returns fractional milliseconds since the Unix epoch and must never go back.
    ///
    /// `wait` returns after a time, or when its task is cancelled; by default it uses the machine's clock.
    package init(
        milliseconds read: @escaping @Sendable () -> Double,
        wait: @escaping @Sendable (TimeAmount) async -> Void = {
            try? await Task.sleep(for: .nanoseconds($0.nanoseconds))
        }
    ) {
        self.read = read
        self.wait = wait
    }

    /// The machine's clock.
    package static func system() -> ServerClock {
        let start = ContinuousClock.now
        let wall = SystemTime.millisecondsSinceEpoch()
        return ServerClock(milliseconds: {
            let elapsed = (ContinuousClock.now - start).components
            return wall + Double(elapsed.seconds) * 1_000 + Double(elapsed.attoseconds) / 1e15
        })
    }

    /// Fractional milliseconds since the Unix epoch.
    package var milliseconds: Double { read() }

    /// Whole milliseconds since the Unix epoch.
    package var now: Timestamp { Timestamp(milliseconds: Int64(read())) }

    /// Returns after `time`, or when the task is cancelled.
    package func sleep(for time: TimeAmount) async {
        await wait(time)
    }
}
