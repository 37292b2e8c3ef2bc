package import RoomClient
import Testing

/// One fact that holds for every store of a client.
package struct ClientStoreCheck: Sendable, CustomTestStringConvertible {
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
    /// `store` is empty. `reopen` lets a store go and returns what the next run of the program has of it; for a store in
    /// memory it returns the same one.
    package func run(
        on store: any ClientStore, reopen: @escaping @Sendable (any ClientStore) async throws -> any ClientStore
    ) async throws {
        try await body(StoreUnderTest(store: store, reopen: reopen))
    }
}

/// The facts that make a store a ``ClientStore``.
///
/// A store's test target runs each as a test of its own.
package enum ClientStoreConformance {
    /// All facts.
    package static let checks: [ClientStoreCheck] = roomChecks + outboxChecks + tokenChecks + wholeChecks
}

/// The store that a check uses.
struct StoreUnderTest: Sendable {
    let store: any ClientStore
    fileprivate let reopen: @Sendable (any ClientStore) async throws -> any ClientStore

    init(
        store: any ClientStore, reopen: @escaping @Sendable (any ClientStore) async throws -> any ClientStore
    ) {
        self.store = store
        self.reopen = reopen
    }

    /// The store after a restart of the program.
    func restarted() async throws -> Self { Self(store: try await reopen(store), reopen: reopen) }
}

// MARK: Samples

let party = reference("7KQ2ZM")
let quiet = reference("0197a3b4-0000-7000-8000-000000000001")

func reference(_ text: String) -> RoomReference {
    guard let reference = RoomReference(text) else { preconditionFailure("\(text) is no reference") }
    return reference
}

/// A room whose state contains every byte.
func room(_ sequence: Int, keyed: Int? = nil, size: Int = 300) -> StoredRoom {
    StoredRoom(
        epoch: "e–\(sequence)", sequence: sequence, keyed: keyed,
        state: (0..<size).map { UInt8(truncatingIfNeeded: $0 &+ sequence) })
}

func command(_ ordinal: Int, in room: String = "7KQ2ZM", sent: (epoch: String, keyed: Int?)? = nil) -> StoredCommand {
    StoredCommand(
        ordinal: ordinal, room: room, key: "key \(ordinal)", command: Array(#"{"n":\#(ordinal)}"#.utf8),
        sentEpoch: sent?.epoch, sentKeyed: sent?.keyed, expiresAt: 1_764_000_000_000 + Int64(ordinal))
}

extension StoredClient {
    /// With the commands by their ordinals: a store may return them in any order.
    var sorted: Self {
        var sorted = self
        sorted.outbox.sort { $0.ordinal < $1.ordinal }
        return sorted
    }
}
