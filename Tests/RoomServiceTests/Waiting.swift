/// What was waited for did not come about.
struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Returns once `condition` holds; throws where it does not within ten minutes.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(600)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(description: what) }
        // Leaves the few threads there are to what is waited for.
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// Returns what `value` gives once it gives something; throws where it does not within ten minutes.
func eventually<Value>(_ what: String, _ value: () async throws -> Value?) async throws -> Value {
    var found: Value?
    try await eventually(what) {
        found = try await value()
        return found != nil
    }
    guard let found else { throw NeverHappened(description: what) }
    return found
}
