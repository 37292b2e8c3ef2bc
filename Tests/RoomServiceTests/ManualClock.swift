import RoomService
import Synchronization

/// A clock that only a test advances.
final class ManualClock: Sendable {
    private let time: Atomic<Int64>

    /// - Parameter start: milliseconds since the Unix epoch.
    init(start: Int64 = 1_732_200_000_000) {
        time = Atomic(start)
    }

    /// Milliseconds since the Unix epoch.
    var now: Int64 { time.load(ordering: .sequentiallyConsistent) }

    /// Advances the clock.
    func advance(milliseconds: Int64) {
        time.add(milliseconds, ordering: .sequentiallyConsistent)
    }
}
