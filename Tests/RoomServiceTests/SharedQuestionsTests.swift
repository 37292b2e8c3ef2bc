import Synchronization
import Testing

@testable import RoomService

/// Equal questions at a time are asked once.
@Suite struct SharedQuestionsTests {
    @Test func `equal questions under way are asked once, others each for itself, and later ones anew`() async throws {
        let questions = SharedQuestions<String, Int>()
        let asked = Mutex(0)
        let gate = Gate()
        let ask = { @Sendable (question: String) async throws -> Int in
            try await questions.answer(question) { () async throws(RoomFailure) in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                await gate.pass()
                return number
            }
        }
        async let first = ask("a")
        while asked.withLock({ $0 }) < 1 { await Task.yield() }
        async let second = ask("a")
        async let other = ask("b")
        while asked.withLock({ $0 }) < 2 { await Task.yield() }
        gate.open()
        #expect(try await first == 1)
        #expect(try await second == 1)
        #expect(try await other == 2)
        #expect(try await ask("a") == 3)
    }

    @Test func `one that is refused for its asker is asked for the next one`() async throws {
        let questions = SharedQuestions<String, Int>()
        let asked = Mutex(0)
        let gate = Gate()
        let refused = Task {
            try await questions.answer("a") { () async throws(RoomFailure) in
                asked.withLock { $0 += 1 }
                await gate.pass()
                throw .busy
            }
        }
        while asked.withLock({ $0 }) < 1 { await Task.yield() }
        async let second = questions.answer("a") { 7 }
        gate.open()
        await #expect(throws: RoomFailure.busy) { try await refused.value }
        #expect(try await second == 7)
    }
}
