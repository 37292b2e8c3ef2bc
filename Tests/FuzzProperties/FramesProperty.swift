import NIOCore
import RandomTestSupport
import WebSocketCodec

/// Bytes of a peer are read as messages or refused, the same way however they are split, in bounded memory.
///
/// Messages that were read and written again read the same; the close handshake sends one Close frame.
///
/// An input begins with three bytes of setup; the frames follow.
enum FramesProperty {
    static func check(_ input: [UInt8]) throws(BrokenProperty) -> Fuzzer.Verdict {
        guard input.count >= 3 else { return .unfinished }
        let setup = Setup(input[0])
        let seed = UInt64(input[1]) << 8 | UInt64(input[2])
        let bytes = input[3...]

        let whole = try MessageReading(Pieces.whole(bytes), setup)
        let cut = try MessageReading(Pieces.cut(bytes, seed: seed), setup)
        try require(cut == whole, "cut with seed \(seed): \(cut), whole: \(whole)")
        let single = try MessageReading(Pieces.single(bytes), setup)
        try require(single == whole, "byte by byte: \(single), whole: \(whole)")
        let shared = try MessageReading(Pieces.whole(bytes), setup, isShared: true)
        try require(shared == whole, "from a shared buffer: \(shared), whole: \(whole)")

        let again = try MessageReading([Self.written(whole.steps, by: setup.role.peer, seed: seed)], setup)
        try require(again.steps == whole.steps && again.violation == nil, "\(whole.steps) written and read: \(again)")

        try CloseProperty.check(whole, role: setup.role, seed: seed)
        if whole.violation != nil { return .refused }
        return whole.steps.isEmpty ? .unfinished : .accepted
    }

    /// The reader's role and limit, and the agreed parameters of compression.
    struct Setup {
        let role: WebSocketRole
        let limit: Int
        let deflate: DeflateParameters?

        init(role: WebSocketRole, limit: Int, deflate: DeflateParameters?) {
            self.role = role
            self.limit = limit
            self.deflate = deflate
        }

        /// Reads the role from bit 0 and the limit, small enough to be reached, from bits 1 and 2; bit 3 allows
        /// compression, bit 4 compresses each message by itself, and bits 5 to 7 give the window.
        init(_ byte: UInt8) {
            let bits = 8 + Int(byte >> 5)
            let isAlone = byte & 16 != 0
            self.init(
                role: byte & 1 == 0 ? .server : .client, limit: [4_096, 125, 200, 1_000][Int(byte >> 1 & 3)],
                deflate: byte & 8 == 0
                    ? nil
                    : DeflateParameters(
                        serverNoContextTakeover: isAlone, clientNoContextTakeover: isAlone, serverMaxWindowBits: bits,
                        clientMaxWindowBits: bits))
        }

        /// The longest accepted payload of a message: compressing may make a message longer.
        var payloadLimit: Int { self.deflate == nil ? self.limit : self.limit + self.limit / 4 + 64 }
    }

    /// The frames of a peer that sends the same messages, each in one frame.
    private static func written(
        _ steps: [MessageReader.Step], by sender: WebSocketRole, seed: UInt64
    ) -> ArraySlice<UInt8> {
        var random = SeededRandom(seed: seed)
        var wire = ByteBuffer()
        for step in steps {
            let mask = sender == .client ? MaskKey(using: &random) : nil
            switch step {
            case .text(let payload): FrameWriter.write(.text, payload: payload, mask: mask, into: &wire)
            case .binary(let payload):
                FrameWriter.write(.binary, mask: mask, into: &wire) { $0.writeImmutableBuffer(payload) }
            case .ping(let payload): FrameWriter.write(.ping, payload: payload, mask: mask, into: &wire)
            case .pong(let payload): FrameWriter.write(.pong, payload: payload, mask: mask, into: &wire)
            case .close(let reason): FrameWriter.writeClose(reason, mask: mask, into: &wire)
            }
        }
        return ArraySlice(wire.readableBytesView)
    }
}
