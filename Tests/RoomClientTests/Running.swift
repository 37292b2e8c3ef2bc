import RoomClient
import Testing

/// Runs a client beside the body of a test.
func running<Value: Sendable>(
    _ client: RoomClient, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async throws -> Value {
    let task = Task { try await client.run() }
    defer { task.cancel() }
    let value = try await body()
    task.cancel()
    _ = await task.result
    return value
}

/// Waits until a condition holds, for ten minutes at most: other tests may take all processors meanwhile.
@MainActor func until(
    _ condition: () -> Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let end = ContinuousClock.now + .seconds(600)
    while !condition() {
        guard ContinuousClock.now < end else {
            Issue.record(comment ?? "the condition did not come to hold", sourceLocation: sourceLocation)
            throw CancellationError()
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
