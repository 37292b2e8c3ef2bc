import NIOCore
import RandomTestSupport
import WebSocketCodec

/// Payloads of compressed messages become messages within the limit or are refused, however they are split.
///
/// Data that is compressed here is unchanged after inflating.
///
/// An input begins with three bytes of setup. The rest consists of payloads, each after its length in two bytes: they
/// are used once as compressed data, and once as data to be compressed.
enum InflateProperty {
    static func check(_ input: [UInt8]) throws(BrokenProperty) -> Fuzzer.Verdict {
        guard input.count >= 3 else { return .unfinished }
        let setup = Setup(input[0], seed: UInt64(input[1]) << 8 | UInt64(input[2]))
        let payloads = Self.payloads(input[3...])
        // A compressor costs more than everything else, so there is one for each input.
        switch setup.seed & 3 {
        case 0: try self.checkCompressing(payloads, by: .server, setup)
        case 1: try self.checkCompressing(payloads, by: .client, setup)
        case 2: try self.checkSharing(payloads, setup)
        default: break
        }
        return try self.checkInflating(payloads, setup)
    }

    /// The agreed parameters, and the reader's limit.
    private struct Setup {
        let parameters: DeflateParameters
        let limit: Int
        let level: Int
        let threshold: Int
        let seed: UInt64

        /// Reads the window from bits 0 to 2, context takeover from bit 3, the limit from bits 4 and 5 and the level from
        /// bits 6 and 7; the same for both roles.
        init(_ byte: UInt8, seed: UInt64) {
            let bits = 8 + Int(byte & 7)
            let isAlone = byte & 8 == 0
            self.parameters = DeflateParameters(
                serverNoContextTakeover: isAlone, clientNoContextTakeover: isAlone, serverMaxWindowBits: bits,
                clientMaxWindowBits: bits)
            self.limit = [4_096, 125, 1_000, 60_000][Int(byte >> 4 & 3)]
            self.level = [1, 9, 6, 2][Int(byte >> 6)]
            self.threshold = Int(seed >> 2 & 31)
            self.seed = seed
        }

        var keepsContext: Bool { !self.parameters.clientNoContextTakeover }
    }

    private static func payloads(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        var rest = bytes
        while let high = rest.popFirst(), let low = rest.popFirst() {
            let payload = rest.prefix(Int(high) << 8 | Int(low))
            payloads.append(Array(payload))
            rest = rest.dropFirst(payload.count)
        }
        return payloads
    }

    // MARK: Inflating

    private static func checkInflating(_ payloads: [[UInt8]], _ setup: Setup) throws(BrokenProperty) -> Fuzzer.Verdict {
        let expected = try self.inflated(payloads, setup)
        let wire = Self.fragments(of: payloads, setup.seed)
        let frames = FramesProperty.Setup(role: .server, limit: setup.limit, deflate: setup.parameters)
        for pieces in [Pieces.whole(wire), Pieces.cut(wire, seed: setup.seed), Pieces.single(wire)] {
            let reading = try MessageReading(pieces, frames)
            try require(
                reading.steps == expected.messages.map { .binary($0) } && reading.violation == expected.violation,
                "\(expected), in \(pieces.count) pieces: \(reading)")
        }
        if expected.violation != nil { return .refused }
        return expected.messages.isEmpty ? .unfinished : .accepted
    }

    /// An inflater's own result for the payloads, up to the first that is refused.
    private static func inflated(
        _ payloads: [[UInt8]], _ setup: Setup
    ) throws(BrokenProperty) -> (messages: [ByteBuffer], violation: FrameViolation?) {
        let inflater = Inflater(windowBits: setup.parameters.clientMaxWindowBits)
        var messages: [ByteBuffer] = []
        for payload in payloads {
            // A payload that a reader does not even collect.
            guard payload.count <= setup.limit + setup.limit / 4 + 64 else {
                return (messages, .messageTooLong(limit: setup.limit))
            }
            let before = inflater.producedByteCount
            do throws(FrameViolation) {
                messages.append(
                    try inflater.inflate(
                        ByteBuffer(bytes: payload), limit: setup.limit, keepsContext: setup.keepsContext))
            } catch {
                try require(inflater.producedByteCount - before <= UInt64(setup.limit + 1), "made too much")
                return (messages, error)
            }
            let message = messages[messages.count - 1]
            try require(message.readableBytes <= setup.limit, "\(message.readableBytes) bytes, limit \(setup.limit)")
            let bound = setup.limit.roundedUpToPowerOfTwo
            try require(message.storageCapacity <= bound, "\(message.storageCapacity) bytes, limit \(setup.limit)")
        }
        return (messages, nil)
    }

    /// A client's compressed messages with these payloads, in fragments.
    private static func fragments(of payloads: [[UInt8]], _ seed: UInt64) -> ArraySlice<UInt8> {
        var random = SeededRandom(seed: ~seed)
        var wire = ByteBuffer()
        for payload in payloads {
            var fragments = Pieces.cut(payload[...], seed: random.next())
            if random.next() & 1 == 0 || fragments.isEmpty { fragments = [payload[...]] }
            for (index, fragment) in fragments.enumerated() {
                FrameWriter.write(
                    index == 0 ? .binary : .continuation, payload: ByteBuffer(bytes: fragment),
                    isFinal: index == fragments.count - 1, reserved: index == 0 ? .rsv1 : [],
                    mask: MaskKey(using: &random), into: &wire)
            }
        }
        return ArraySlice(wire.readableBytesView)
    }

    // MARK: Compressing

    /// Checks that one end reads what the other writes.
    private static func checkCompressing(
        _ messages: [[UInt8]], by sender: WebSocketRole, _ setup: Setup
    ) throws(BrokenProperty) {
        let deflater = Deflater(setup.parameters, sender: sender, level: setup.level, threshold: setup.threshold)
        var random = SeededRandom(seed: setup.seed)
        var wire = ByteBuffer()
        for message in messages {
            let mask = sender == .client ? MaskKey(using: &random) : nil
            FrameWriter.write(.binary, compressing: message.span, with: deflater, mask: mask, into: &wire)
        }
        let frames = FramesProperty.Setup(role: sender.peer, limit: 1 << 16, deflate: setup.parameters)
        let reading = try MessageReading([ArraySlice(wire.readableBytesView)], frames)
        let expected = messages.map { MessageReader.Step.binary(ByteBuffer(bytes: $0)) }
        try require(
            reading.steps == expected && reading.violation == nil, "\(messages) compressed and read: \(reading)")
    }

    /// Checks that a frame made once reads as its message wherever it fits.
    private static func checkSharing(_ messages: [[UInt8]], _ setup: Setup) throws(BrokenProperty) {
        let deflater = Deflater(level: setup.level, threshold: setup.threshold)
        let frames = FramesProperty.Setup(role: .client, limit: 1 << 16, deflate: setup.parameters)
        for message in messages where setup.parameters.fits(message.count) {
            guard let frame = PreparedFrame(.binary, compressing: message.span, with: deflater) else { continue }
            try require(
                frame.bytes.readableBytes < message.count + 10, "\(frame.bytes.readableBytes) of \(message.count)")
            let reading = try MessageReading([ArraySlice(frame.bytes.readableBytesView)], frames)
            try require(
                reading.steps == [.binary(ByteBuffer(bytes: message))], "\(message) compressed and read: \(reading)")
        }
    }
}
