import NIOCore
import Testing
import WebSocketCodec

@testable import PushServer

@Suite struct SocketInputTests {
    private static func makeReader() -> MessageReader { MessageReader(role: .server, maximumMessageLength: 1 << 20) }

    private func makeInput(perSecond: Int = 10) -> SocketInput {
        SocketInput(Self.makeReader(), MessageBudget(perSecond: perSecond, at: .uptimeNanoseconds(1)))
    }

    private func frame(_ payload: String) -> ByteBuffer {
        var bytes = ByteBuffer()
        FrameWriter.write(.text, payload: ByteBuffer(string: payload), mask: MaskKey(rawValue: 7), into: &bytes)
        return bytes
    }

    @Test func `bytes that wait keep their order`() {
        var input = makeInput()
        #expect(input.isEmpty == true)
        var (first, second) = (ByteBuffer(string: "first "), ByteBuffer(string: "second"))
        input.append(&first)
        input.append(&second)
        let taken = String(buffer: input.take())
        #expect(taken == "first second")
        #expect(input.isEmpty == true)
        var more = ByteBuffer(string: "more")
        input.append(&more)
        input.drop()
        #expect(input.isEmpty == true)
    }

    @Test(arguments: [(0, 1), (1_000, 1), (3_000, 3), (10_000, 10)])
    func `a message counts as one frame for each KiB, and as one at least`(length: Int, frames: Int) throws {
        var input = makeInput()
        var bytes = frame(String(repeating: "x", count: length))
        var counted = 0
        var texts = 0
        while bytes.readableBytes > 0 {
            let (step, count) = try input.read(&bytes)
            counted += count
            if case .text = step { texts += 1 }
        }
        #expect(texts == 1)
        #expect((frames...frames + 1).contains(counted), "\(counted)")
    }

    @Test func `an incomplete message is charged from a step on, until it is complete`() throws {
        var input = makeInput()
        var whole = frame(String(repeating: "x", count: 100_000))
        var charges: [SocketInput.Charge] = []
        for part in [1_000, 40_000, whole.readableBytes - 41_000] {
            var bytes = whole.readSlice(length: part) ?? ByteBuffer()
            _ = try input.read(&bytes)
            charges.append(input.charge(allows: { _ in true }, fresh: Self.makeReader))
            if part == 40_000 { #expect((41_000 - 14..<200_000).contains(input.charged)) }
        }
        #expect(charges == [.unchanged, .changed, .changed])
        #expect(input.charged == 0)
    }

    @Test func `what may not be held is dropped`() throws {
        var input = makeInput()
        var whole = frame(String(repeating: "x", count: 100_000))
        var part = whole.readSlice(length: 40_000) ?? ByteBuffer()
        _ = try input.read(&part)
        var waiting = ByteBuffer(string: "waits")
        input.append(&waiting)
        let charge = input.charge(allows: { _ in false }, fresh: Self.makeReader)
        #expect(charge == .refused)
        #expect(input.charged == 0)
        #expect(input.isEmpty == true)
        // The reader begins anew.
        var next = frame("next")
        let (step, _) = try input.read(&next)
        #expect(step == .text(ByteBuffer(string: "next")))
    }

    @Test func `frames beyond the budget are refused, and an answer may overdraw it`() {
        var input = makeInput()
        let now = NIODeadline.uptimeNanoseconds(1)
        input.count(answerOf: 49 * 4_096, perSecond: 10, at: now)
        let verdicts = (0..<12).map { _ in input.count(1, perSecond: 10, at: now) }
        #expect(verdicts.first == .accepted)
        #expect(verdicts.last == .exceeded)
        #expect(verdicts.dropFirst().dropLast().allSatisfy { if case .refused = $0 { true } else { false } })
    }
}
