import Synchronization

/// Answers equal questions at a time together: the first one is asked, and the others wait for its answer.
final class SharedQuestions<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    private let underWay = Mutex<[Question: Task<Result<Answer, RoomFailure>, Never>]>([:])

    /// Returns the answer of `ask`, or of the equal question under way.
    ///
    /// Cancelling the caller cancels no question, because others may wait for it. Where the turn of another asker was
    /// refused, the question is asked for this one.
    func answer(
        _ question: Question, _ ask: @escaping @Sendable () async throws(RoomFailure) -> Answer
    ) async throws(RoomFailure) -> Answer {
        if let other = underWay.withLock({ $0[question] }), case .success(let answer) = await other.value {
            return answer
        }
        let task = underWay.withLock { underWay in
            if let other = underWay[question] { return other }
            let task = Task { await self.run(question, ask) }
            underWay[question] = task
            return task
        }
        return try await task.value.get()
    }

    private func run(
        _ question: Question, _ ask: @Sendable () async throws(RoomFailure) -> Answer
    ) async -> Result<Answer, RoomFailure> {
        defer { underWay.withLock { $0[question] = nil } }
        do throws(RoomFailure) {
            return .success(try await ask())
        } catch {
            return .failure(error)
        }
    }
}
