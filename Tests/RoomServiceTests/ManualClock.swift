import RoomService
import Synchronization

/// A clock that stands until it is moved.
final class ManualClock: Sendable {
    private let time: Atomic<Int64>

    /// - Parameter start: milliseconds since the Unix epoch.
    init(start: Int64 = 1_732_200_000_000) {
        time = Atomic(start)
    }

    /// Milliseconds since the Unix epoch.
    var now: Int64 { time.load(ordering: .sequentiallyConsistent) }

    /// Moves the clock on.
    func advance(milliseconds: Int64) {
        time.add(milliseconds, ordering: .sequentiallyConsistent)
    }
}
