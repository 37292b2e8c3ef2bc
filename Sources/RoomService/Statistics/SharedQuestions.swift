import Synchronization

/// Answers equal questions at a time together: the first one is asked, and the others wait for its answer.
final class SharedQuestions<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    private typealias Outcome = Result<Answer, RoomFailure>

    /// Those who wait for the answer of each question under way.
    private let underWay = Mutex<[Question: [CheckedContinuation<Outcome?, Never>]]>([:])

    /// Returns the answer of `ask`, or of the equal question under way.
    ///
    /// Where another one gets no answer, because its turn was refused or it has gone, one of those who waited asks once
    /// more for all of them.
    func answer(
        _ question: Question, _ ask: () async throws(RoomFailure) -> Answer
    ) async throws(RoomFailure) -> Answer {
        if let first = await join(question) {
            if case .success(let answer) = first { return answer }
            if let second = await join(question) { return try second.get() }
        }
        let outcome: Outcome
        do throws(RoomFailure) {
            outcome = .success(try await ask())
        } catch {
            outcome = .failure(error)
        }
        for one in underWay.withLock({ $0.removeValue(forKey: question) }) ?? [] { one.resume(returning: outcome) }
        return try outcome.get()
    }

    /// Waits for the outcome of an equal question; nil if there was none, and the caller is to ask.
    private func join(_ question: Question) async -> Outcome? {
        await withCheckedContinuation { continuation in
            let isFirst = underWay.withLock { underWay in
                guard underWay[question] != nil else {
                    underWay[question] = []
                    return true
                }
                underWay[question]?.append(continuation)
                return false
            }
            if isFirst { continuation.resume(returning: nil) }
        }
    }
}
