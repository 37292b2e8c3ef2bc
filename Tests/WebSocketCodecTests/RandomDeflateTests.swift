import NIOCore
import RandomTestSupport
import Testing
import WebSocketCodec

struct RandomDeflateTests {
    /// Parameters for every window, with and without context takeover.
    private static let parameters: [DeflateParameters] = (8...15).flatMap { bits in
        [false, true].map { alone in
            DeflateParameters(
                serverNoContextTakeover: alone, clientNoContextTakeover: alone, serverMaxWindowBits: bits,
                clientMaxWindowBits: bits)
        }
    }

    /// Random messages, most of them compressed, in random fragments with pings between them, and the steps they make.
    private func conversation(
        _ generator: inout SeededRandom, sender: WebSocketRole, _ parameters: DeflateParameters
    ) -> (bytes: [UInt8], steps: [MessageReader.Step]) {
        let deflater = Deflater(
            parameters, sender: sender, level: Int.random(in: 1...9, using: &generator),
            threshold: Int.random(in: 0...64, using: &generator))
        var wire = ByteBuffer()
        var steps: [MessageReader.Step] = []
        func mask() -> MaskKey? { sender == .client ? MaskKey(using: &generator) : nil }

        for _ in 0..<12 {
            let length = [0, 20, 300, 3_000, 40_000].randomElement(using: &generator) ?? 0
            let message: [UInt8] =
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: generator.bytes(length)
                case 1: Array(generator.text(longest: length / 4).utf8)
                case 2: deltaJSON(max(100, length), using: &generator)
                default: [UInt8](repeating: UInt8.random(in: 0..<128, using: &generator), count: length)
                }
            let isText = String(validating: message, as: UTF8.self) != nil
            var payload = message
            var reserved: ReservedBits = []
            if let compressed = deflater.payload(of: message) {
                (payload, reserved) = (compressed, .rsv1)
            } else if parameters.noContextTakeover(of: sender) {
                // with context takeover the deflater would not know the message
                let length = Int.random(in: 100...65_535, using: &generator)
                (payload, reserved) = (storedPayload(message, length: length), .rsv1)
            }
            var fragments = generator.pieces(of: payload, longest: max(1, payload.count))
            if fragments.isEmpty { fragments = [[]] }
            var opcode = isText ? Opcode.text : .binary
            for (index, fragment) in fragments.enumerated() {
                let isLast = index == fragments.count - 1
                FrameWriter.write(
                    opcode, payload: ByteBuffer(bytes: fragment), isFinal: isLast,
                    reserved: index == 0 ? reserved : [], mask: mask(), into: &wire)
                opcode = .continuation
                if isLast {
                    steps.append(isText ? .text(ByteBuffer(bytes: message)) : .binary(ByteBuffer(bytes: message)))
                }
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    FrameWriter.write(.ping, payload: .of("ping"), mask: mask(), into: &wire)
                    steps.append(.ping(.of("ping")))
                }
            }
        }
        return (Array(wire.readableBytesView), steps)
    }

    @Test(arguments: TestSeed.several(2), [WebSocketRole.client, .server])
    func `random compressed messages arrive as they were sent, however they are cut`(
        _ seed: UInt64, _ sender: WebSocketRole
    ) {
        var generator = SeededRandom(seed: seed)
        let shared = Inflater()
        for parameters in Self.parameters {
            let (bytes, steps) = conversation(&generator, sender: sender, parameters)
            for pieces in [
                [bytes], generator.pieces(of: bytes, longest: 3_000), generator.pieces(of: bytes, longest: 20),
            ] {
                let read = Transcript(pieces, role: sender.peer, deflate: parameters, inflater: shared)
                #expect(read.violation == nil, "seed \(seed), \(parameters)")
                // not the arrays themselves: a failure would print them
                let isSame = read.steps == steps
                #expect(isSame, "seed \(seed), \(parameters)")
            }
        }
    }

    @Test(arguments: TestSeed.several(2))
    func `damaged compressed conversations give the same steps and violation however they are cut`(_ seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var violations: Set<String> = []
        // Some damage leaves the compression valid: conversations are damaged until one is not, long before the last.
        for round in 0..<100 where round < 4 || !violations.contains("invalidDeflate") {
            for parameters in Self.parameters {
                var (bytes, _) = conversation(&generator, sender: .client, parameters)
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    if let place = bytes.indices.randomElement(using: &generator) {
                        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                    }
                }
                let whole = Transcript(bytes, limit: 50_000, deflate: parameters, inflater: Inflater())
                if let violation = whole.violation { violations.insert("\(violation)") }
                let cut = generator.pieces(of: bytes, longest: 500)
                let pieces = Transcript(cut, limit: 50_000, deflate: parameters, inflater: Inflater())
                #expect(pieces.violation == whole.violation, "seed \(seed), \(parameters)")
                let isSame = pieces.steps == whole.steps
                #expect(isSame, "seed \(seed), \(parameters)")
            }
        }
        #expect(violations.contains("invalidDeflate"))
    }

    @Test(arguments: TestSeed.several(2))
    func `random and damaged payloads are inflated or refused within the limit`(_ seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        let deflater = Deflater(threshold: 0)
        var refused = 0
        for round in 0..<3_000 {
            var payload = generator.bytes(Int.random(in: 0...60, using: &generator))
            if !round.isMultiple(of: 3) {
                payload = deflater.payload(of: deltaJSON(round, using: &generator)) ?? payload
                if let place = payload.indices.randomElement(using: &generator) {
                    payload[place] = UInt8.random(in: .min ... .max, using: &generator)
                }
            }
            let inflater = Inflater(windowBits: Int.random(in: 8...15, using: &generator))
            do throws(FrameViolation) {
                let message = try inflater.message(of: payload, limit: 1_000)
                #expect(message.count <= 1_000, "seed \(seed), round \(round)")
            } catch {
                refused += 1
                let isKnown = error == .invalidDeflate || error == .messageTooLong(limit: 1_000)
                #expect(isKnown, "seed \(seed), round \(round): \(error)")
            }
            #expect(inflater.producedByteCount <= 1_001, "seed \(seed), round \(round)")
        }
        #expect(refused > 100)
    }
}
