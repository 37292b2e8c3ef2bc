import RandomTestSupport
import SimulatedTime
import Testing

/// An expected condition did not become true.
struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Runs `body`, and everything that it starts, on virtual time, whose seed is printed.
func onVirtualTime<Value>(_ body: (VirtualTime) async throws -> Value) async throws -> Value {
    try await VirtualTime.run(seed: TestSeed.fresh(Test.current?.name ?? #function), body)
}

/// Lets virtual time pass until `condition` holds; throws where it does not within ten minutes of it.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let time = try #require(VirtualTime.current, "no virtual time: \(what)")
    guard try await time.passes(until: condition) else { throw NeverHappened(description: what) }
}

/// Returns what `value` gives once it gives something; throws where it does not within ten minutes of virtual time.
func eventually<Value>(_ what: String, _ value: () async throws -> Value?) async throws -> Value {
    var found: Value?
    try await eventually(what) {
        found = try await value()
        return found != nil
    }
    guard let found else { throw NeverHappened(description: what) }
    return found
}
