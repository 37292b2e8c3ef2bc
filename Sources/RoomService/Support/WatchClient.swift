import Synchronization

/// Identifies one of a client's watches: of rooms near a point, of a room's counts, or of what is played across rooms.
package struct WatchID: Hashable, Sendable {
    /// Tells the watches of one kind apart.
    let number: Int
    let delivered: WatchClient.Delivery

    /// Records that the client has taken its last message; never waits.
    package func taken() { delivered.taken() }

    package static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// The client of some watches, which bounds the messages of all of them together to what the client takes; may be used
/// on any thread.
package final class WatchClient: Sendable {
    /// The messages of one watch that are on their way.
    final class Delivery: Sendable {
        private let client: WatchClient
        private let size = Atomic(0)

        init(to client: WatchClient) { self.client = client }

        /// Whether the client takes more: it has taken the last message of this watch, and most of the messages of all.
        var takesMore: Bool { size.load(ordering: .acquiring) == 0 && client.takesMore }

        /// Records a message that is sent; the previous one must have been taken.
        func sent(_ bytes: Int) {
            client.underWay.add(bytes, ordering: .relaxed)
            size.store(bytes, ordering: .releasing)
        }

        /// Records that the message was taken.
        func taken() {
            client.underWay.subtract(size.exchange(0, ordering: .acquiringAndReleasing), ordering: .relaxed)
        }
    }

    private let limit: Int
    private let underWay = Atomic(0)

    /// Makes a client that is sent nothing more while about `limit` bytes are on their way.
    ///
    /// With the default, one further message of 200 rooms with the longest names keeps the total below a megabyte.
    package init(limit: Int = 1 << 18) { self.limit = limit }

    /// About how many bytes were sent and have not been taken.
    package var bytesUnderWay: Int { underWay.load(ordering: .relaxed) }

    private var takesMore: Bool { bytesUnderWay < limit }
}
