import NIOCore
import Testing
import WebSocketCodec

struct FrameWriterTests {
    private struct Failure: Error, Equatable {}

    // RFC 6455 §5.7

    @Test func `the RFC's examples are written byte for byte`() {
        let hello = Array("Hello".utf8)
        #expect(frame(.text, hello, mask: nil) == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(frame(.text, hello) == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(frame(.text, Array("Hel".utf8), isFinal: false, mask: nil) == [0x01, 0x03, 0x48, 0x65, 0x6C])
        #expect(frame(.continuation, Array("lo".utf8), mask: nil) == [0x80, 0x02, 0x6C, 0x6F])
        #expect(frame(.ping, hello, mask: nil) == [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(frame(.pong, hello) == [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        let short = [UInt8](repeating: 7, count: 256)
        #expect(frame(.binary, short, mask: nil) == [0x82, 0x7E, 0x01, 0x00] + short)
        let long = [UInt8](repeating: 9, count: 65_536)
        #expect(frame(.binary, long, mask: nil) == [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + long)
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
    func `a payload written in place makes the same frame as one that is copied`(_ count: Int) {
        let payload = ByteBuffer(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        for mask in [nil, MaskKey.example] {
            var copied = ByteBuffer(string: "before")
            var inPlace = copied
            copied.moveReaderIndex(forwardBy: 2)
            inPlace.moveReaderIndex(forwardBy: 2)
            FrameWriter.write(.binary, payload: payload, reserved: .rsv1, mask: mask, into: &copied)
            FrameWriter.write(.binary, reserved: .rsv1, mask: mask, into: &inPlace) { buffer in
                buffer.writeImmutableBuffer(payload)
            }
            #expect(inPlace == copied)
            #expect(inPlace.getString(at: 2, length: 4) == "fore")
        }
    }

    @Test func `a payload that fails leaves the buffer as it was`() {
        var buffer = ByteBuffer(string: "before")
        #expect(throws: Failure()) {
            try FrameWriter.write(.text, into: &buffer) { payload throws(Failure) in
                payload.writeString("half")
                throw Failure()
            }
        }
        #expect(buffer == .of("before"))
    }

    @Test func `a close frame holds its code and text, or nothing`() {
        var buffer = ByteBuffer()
        FrameWriter.writeClose(CloseReason(.goingAway, "bye"), into: &buffer)
        FrameWriter.writeClose(nil, into: &buffer)
        FrameWriter.writeClose(CloseReason(.normal), mask: .example, into: &buffer)
        let expected: [UInt8] = [
            0x88, 0x05, 0x03, 0xE9, 0x62, 0x79, 0x65,
            0x88, 0x00,
            0x88, 0x82, 0x37, 0xFA, 0x21, 0x3D, 0x34, 0x12,
        ]
        #expect(Array(buffer.readableBytesView) == expected)
    }

    @Test func `writing a control frame that is too long traps`() async {
        await #expect(processExitsWith: .failure) {
            var buffer = ByteBuffer()
            FrameWriter.write(.ping, payload: ByteBuffer(repeating: 0, count: 126), into: &buffer)
        }
    }

    @Test func `a prepared frame is the frame, in a buffer of its own`() {
        let copied = PreparedFrame(payload: .of("Hello"))
        let inPlace = PreparedFrame { $0.writeString("Hello") }
        #expect(Array(copied.bytes.readableBytesView) == frame(.text, Array("Hello".utf8), mask: nil))
        #expect(inPlace == copied)
        #expect(PreparedFrame(.ping, payload: ByteBuffer()).bytes == ByteBuffer(bytes: [0x89, 0x00]))
    }
}
