import NIOCore
import RoomService
import Testing

@testable import PushServer

@Suite struct `States on their way` {
    private static let step = WaitingBytes.step
    private let waiting = WaitingBytes(maximum: 0, maximumPerAddress: 8 * step)
    private let state = SharedState(seq: 1, plain: ByteBuffer(repeating: 0, count: 4 * step))

    @Test func `one state is charged once to the process, and once to each address`() {
        let states = HeldStates(waiting)
        var holds = (0..<100).map { _ in states.hold(state, bytes: 4 * Self.step, of: 1) }
        holds += (0..<100).map { _ in states.hold(state, bytes: 4 * Self.step, of: 2) }
        #expect(waiting.count == 4 * Self.step)
        #expect(waiting.takes(4 * Self.step, of: 1) && !waiting.takes(5 * Self.step, of: 1))
        #expect(waiting.takes(4 * Self.step, of: 2) && !waiting.takes(5 * Self.step, of: 2))
        #expect(waiting.takes(8 * Self.step, of: 3))
        holds.removeLast(199)
        #expect(waiting.count == 4 * Self.step)
        #expect(!waiting.takes(5 * Self.step, of: 1) && waiting.takes(8 * Self.step, of: 2))
        holds = []
        #expect(waiting.count == 0 && waiting.takes(8 * Self.step, of: 1))
    }

    @Test func `another position, and the compressed form, are charged as well`() {
        let states = HeldStates(waiting)
        let later = SharedState(seq: 2, plain: ByteBuffer(repeating: 0, count: 4 * Self.step))
        let holds = [
            states.hold(state, bytes: 4 * Self.step, of: 1), states.hold(later, bytes: 4 * Self.step, of: 1),
            states.hold(state, isCompressed: true, bytes: Self.step, of: 1),
        ]
        #expect(waiting.count == 9 * Self.step && !waiting.takes(Self.step, of: 1))
        withExtendedLifetime(holds) {}
    }

    @Test func `a short state is charged to nobody`() {
        let states = HeldStates(waiting)
        #expect(states.hold(state, bytes: Self.step - 1, of: 1) == nil)
        #expect(waiting.count == 0)
    }
}
