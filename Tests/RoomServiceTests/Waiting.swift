/// What was waited for did not come about.
struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Returns once `condition` holds; throws where it does not within half a minute.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(description: what) }
        await Task.yield()
    }
}

/// Returns what `value` gives once it gives something; throws where it does not within half a minute.
func eventually<Value>(_ what: String, _ value: () async throws -> Value?) async throws -> Value {
    var found: Value?
    try await eventually(what) {
        found = try await value()
        return found != nil
    }
    guard let found else { throw NeverHappened(description: what) }
    return found
}
