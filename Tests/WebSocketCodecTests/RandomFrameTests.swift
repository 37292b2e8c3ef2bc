import NIOCore
import RandomTestSupport
import Testing
import WebSocketCodec

struct RandomFrameTests {
    /// Random messages as frames, cut into fragments with control frames between them, and the steps they make.
    private func conversation(
        _ generator: inout SeededRandom, sender: WebSocketRole
    ) -> (bytes: [UInt8], steps: [MessageReader.Step]) {
        var wire = ByteBuffer()
        var steps: [MessageReader.Step] = []
        func mask() -> MaskKey? { sender == .client ? MaskKey(using: &generator) : nil }

        for _ in 0..<20 {
            let isText = Bool.random(using: &generator)
            let longest = [0, 40, 200, 3_000].randomElement(using: &generator) ?? 0
            let payload = isText ? Array(generator.text(longest: longest).utf8) : generator.bytes(longest)
            var opcode = isText ? Opcode.text : .binary
            var fragments = generator.pieces(of: payload, longest: max(1, longest))
            if fragments.isEmpty { fragments = [[]] }
            for (index, fragment) in fragments.enumerated() {
                FrameWriter.write(
                    opcode, payload: ByteBuffer(bytes: fragment), isFinal: index == fragments.count - 1, mask: mask(),
                    into: &wire)
                opcode = .continuation
                let isLast = index == fragments.count - 1
                if isLast {
                    steps.append(isText ? .text(ByteBuffer(bytes: payload)) : .binary(ByteBuffer(bytes: payload)))
                }
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let data = ByteBuffer(bytes: generator.bytes(Int.random(in: 0...125, using: &generator)))
                    let isPing = Bool.random(using: &generator)
                    FrameWriter.write(isPing ? .ping : .pong, payload: data, mask: mask(), into: &wire)
                    steps.append(isPing ? .ping(data) : .pong(data))
                }
            }
        }
        let reason = CloseReason(.normal, generator.text(longest: 30))
        FrameWriter.writeClose(reason, mask: mask(), into: &wire)
        steps.append(.close(reason))
        return (Array(wire.readableBytesView), steps)
    }

    @Test(arguments: TestSeed.several(), [WebSocketRole.client, .server])
    func `random messages arrive as they were sent, however they are cut`(_ seed: UInt64, _ sender: WebSocketRole) {
        var generator = SeededRandom(seed: seed)
        for round in 0..<3 {
            let (bytes, steps) = conversation(&generator, sender: sender)
            #expect(Transcript(bytes, role: sender.peer).steps == steps, "seed \(seed), round \(round)")
            for longest in [1, 7, 100, 5_000] {
                let pieces = generator.pieces(of: bytes, longest: longest)
                #expect(Transcript(pieces, role: sender.peer).steps == steps, "seed \(seed), round \(round)")
            }
        }
    }

    @Test(arguments: TestSeed.several(), [WebSocketRole.client, .server])
    func `damaged conversations give the same steps and the same violation however they are cut`(
        _ seed: UInt64, _ sender: WebSocketRole
    ) {
        var generator = SeededRandom(seed: seed)
        var violations = 0
        for round in 0..<15 {
            var (bytes, _) = conversation(&generator, sender: sender)
            if round.isMultiple(of: 5) {
                // RFC 6455 §5.2: a reserved bit that no extension gave a meaning is always a violation.
                bytes[0] ^= 0x40
            } else {
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    if let place = bytes.indices.randomElement(using: &generator) {
                        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                    }
                }
            }
            let whole = Transcript(bytes, role: sender.peer)
            if whole.violation != nil { violations += 1 }
            let pieces = generator.pieces(of: bytes, longest: 50)
            #expect(Transcript(pieces, role: sender.peer) == whole, "seed \(seed), round \(round)")
        }
        #expect(violations > 3)
    }

    @Test(arguments: TestSeed.several(), [WebSocketRole.client, .server])
    func `random bytes are read or refused, the same way however they are cut`(_ seed: UInt64, _ role: WebSocketRole) {
        var generator = SeededRandom(seed: seed)
        for round in 0..<600 {
            var bytes = generator.bytes(Int.random(in: 0...60, using: &generator))
            // most random first bytes are refused at once: let every other round begin like a frame
            if round.isMultiple(of: 2), bytes.count > 2 {
                bytes[0] = [0x81, 0x01, 0x82, 0x88, 0x89, 0x8A].randomElement(using: &generator) ?? 0x81
                bytes[1] = UInt8.random(in: 0...40, using: &generator) | (role == .server ? 0x80 : 0)
            }
            let whole = Transcript(bytes, role: role, limit: 125)
            #expect(Transcript(bytes.singleBytes, role: role, limit: 125) == whole, "seed \(seed): \(bytes)")
        }
    }
}
