import Testing

@testable import RoomService

/// Steps are taken in order, in whatever call they are added.
@Suite struct StepQueueTests {
    @Test func `steps that a step causes come after the remaining ones`() {
        var queue = StepQueue<Int>()
        var taken: [Int] = []
        func take(_ steps: [Int]) {
            guard queue.add(steps) else { return }
            while let step = queue.next() {
                taken.append(step)
                if step < 10 { take([step * 10, step * 10 + 1]) }
            }
        }
        take([1, 2, 3])
        #expect(taken == [1, 2, 3, 10, 11, 20, 21, 30, 31])
        take([])
        take([4])
        #expect(taken.suffix(3) == [4, 40, 41])
    }
}
