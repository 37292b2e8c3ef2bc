import Synchronization

/// Who has some watches, and is told no more of all of them together than it takes; may be used on any thread.
package final class NearbyClient: Sendable {
    /// What is on its way of one watch.
    final class Delivery: Sendable {
        private let client: NearbyClient
        private let size = Atomic(0)

        init(to client: NearbyClient) { self.client = client }

        /// Whether the client takes more: it has what it was told last of this watch, and most of what it was told of
        /// all.
        var takesMore: Bool { size.load(ordering: .acquiring) == 0 && client.takesMore }

        /// A message is on its way, where none is.
        func sent(_ bytes: Int) {
            client.underWay.add(bytes, ordering: .relaxed)
            size.store(bytes, ordering: .releasing)
        }

        /// There is none any more.
        func taken() {
            client.underWay.subtract(size.exchange(0, ordering: .acquiringAndReleasing), ordering: .relaxed)
        }
    }

    private let limit: Int
    private let underWay = Atomic(0)

    /// Where about `limit` bytes are on their way, nothing more is said.
    ///
    /// With one message more, of 200 rooms with the longest names, those of the default stay below a megabyte.
    package init(limit: Int = 1 << 18) { self.limit = limit }

    /// About how many bytes it was told and has not taken.
    package var bytesUnderWay: Int { underWay.load(ordering: .relaxed) }

    private var takesMore: Bool { bytesUnderWay < limit }
}
