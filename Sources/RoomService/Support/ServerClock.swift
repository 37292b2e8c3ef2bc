package import NIOCore
package import RoomDomain
import Synchronization

/// The server's clock for events: it follows the wall clock when that is set ahead, and never steps back.
package struct ServerClock: Sendable {
    private let read: @Sendable () -> Double
    private let readWall: @Sendable () -> Double
    private let wait: @Sendable (TimeAmount) async -> Void

    /// Makes a clock from `read`, which returns fractional milliseconds since the Unix epoch and must never go back.
    ///
    /// `wall` returns the wall clock's, which may; by default it is `read`. `wait` returns after a time, or when its task
    /// is cancelled; by default it uses the machine's clock.
    package init(
        milliseconds read: @escaping @Sendable () -> Double,
        wall: (@Sendable () -> Double)? = nil,
        wait: @escaping @Sendable (TimeAmount) async -> Void = {
            try? await Task.sleep(for: .nanoseconds($0.nanoseconds))
        }
    ) {
        self.read = read
        readWall = wall ?? read
        self.wait = wait
    }

    /// The machine's clock; `wall` stands for the machine's time, if it is given.
    package static func system(wall: (@Sendable () -> Double)? = nil) -> ServerClock {
        // `ContinuousClock` makes a number of 128 bits of each time first, and every event asks for one. This one stands
        // still while the machine sleeps, and then the wall clock is later.
        following(wall: wall ?? SystemTime.millisecondsSinceEpoch) {
            Double(NIODeadline.now().uptimeNanoseconds) / 1e6
        }
    }

    /// A clock that goes with `steady`, which counts milliseconds from anywhere, and is set ahead where `wall` is later.
    package static func following(
        wall: @escaping @Sendable () -> Double, steady: @escaping @Sendable () -> Double
    ) -> ServerClock {
        let ahead = Mutex(wall() - steady())
        return ServerClock(
            milliseconds: {
                ahead.withLock { ahead in
                    let now = steady()
                    ahead = max(ahead, wall() - now)
                    return now + ahead
                }
            }, wall: wall)
    }

    /// The wall clock's fractional milliseconds since the Unix epoch: what the rest of the world means by now.
    ///
    /// It may go back. Tokens of others are judged by it.
    package var wallMilliseconds: Double { readWall() }

    /// Fractional milliseconds since the Unix epoch.
    package var milliseconds: Double { read() }

    /// Whole milliseconds since the Unix epoch.
    package var now: Timestamp { Timestamp(milliseconds: Int64(read())) }

    /// Returns after `time`, or when the task is cancelled.
    package func sleep(for time: TimeAmount) async {
        await wait(time)
    }
}
