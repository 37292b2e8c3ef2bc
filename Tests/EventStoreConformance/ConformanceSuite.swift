package import EventStorage
import Testing

/// An event store with its statistics.
package typealias Counting = EventStore & StatisticsStore

/// One fact that holds for every event store.
package struct EventStoreCheck: Sendable, CustomTestStringConvertible {
    /// The fact, a sentence.
    package let name: String
    private let body: @Sendable (StoreUnderTest) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void) {
        self.name = name
        self.body = body
    }

    package var testDescription: String { name }

    /// Checks whether the fact holds; if not, records issues or throws an error.
    ///
    /// `store` is empty and nobody else uses it. `second` is another handle on the same log, as a second process would
    /// have it; if there is none, `store` is used twice.
    package func run(on store: any Counting, second: (any Counting)? = nil) async throws {
        try await body(StoreUnderTest(store: store, second: second ?? store))
    }
}

/// The facts that make a store an ``EventStore``.
///
/// A store's test target runs each as a test of its own:
///
/// ```swift
/// @Test(arguments: ConformanceSuite.checks)
/// func `a store keeps the contract`(check: EventStoreCheck) async throws {
///     try await check.run(on: freshStore())
/// }
/// ```
package enum ConformanceSuite {
    /// All facts.
    package static let checks: [EventStoreCheck] = [
        appendChecks, concurrentAppendChecks, readChecks, catchUpChecks, keyChecks, creationChecks,
        concurrentCreationChecks, directoryChecks, directoryChangeChecks, sessionChecks, historyChecks, archiveChecks,
        erasureChecks, attachmentChecks, statisticsChecks, statisticsRaceChecks,
    ].flatMap(\.self)
}

/// The store that a check uses, with a second handle.
struct StoreUnderTest: Sendable {
    /// The store.
    let store: any Counting
    /// A handle on the same log.
    let second: any Counting

    /// One handle or the other, alternately.
    func handle(_ turn: Int) -> any Counting {
        turn.isMultiple(of: 2) ? store : second
    }
}
