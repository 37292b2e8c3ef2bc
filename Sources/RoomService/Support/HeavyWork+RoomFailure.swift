import RoomDomain

extension HeavyWork {
    /// Runs what grows with a room or a log when its turn comes; refusals and failures come as one.
    func perform<Value: Sendable>(
        _ kind: HeavyWorkKind, for asker: Asker? = nil,
        _ body: @escaping @Sendable () async throws(RoomFailure) -> Value
    ) async throws(RoomFailure) -> Value {
        let result: Result<Value, RoomFailure>
        do throws(HeavyWorkRefusal) {
            result = try await run(kind, for: asker) {
                do throws(RoomFailure) {
                    return .success(try await body())
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw RoomFailure(error)
        }
        return try result.get()
    }
}
