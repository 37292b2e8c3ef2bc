import NIOCore
import Testing
import WebSocketCodec

struct FrameHeaderTests {
    private func parse(
        _ bytes: [UInt8], from sender: WebSocketRole = .client, allowing: ReservedBits = []
    ) -> Result<FrameHeader?, FrameViolation> {
        do throws(FrameViolation) {
            return .success(try FrameHeader.parse(bytes.span, from: sender, allowing: allowing))
        } catch {
            return .failure(error)
        }
    }

    @Test(
        arguments: [
            (0, 2), (1, 2), (125, 2), (126, 4), (127, 4), (65_535, 4), (65_536, 10), (UInt64(Int64.max), 10),
        ] as [(UInt64, Int)])
    func `every length is written in its shortest form and read back, in both roles`(_ length: UInt64, _ size: Int) {
        for mask in [nil, MaskKey.example] {
            let header = FrameHeader(.binary, payloadLength: length, isFinal: false, mask: mask)
            var buffer = ByteBuffer()
            header.write(into: &buffer)
            let bytes = Array(buffer.readableBytesView)
            let sender = mask == nil ? WebSocketRole.server : .client
            #expect(bytes.count == size + (mask == nil ? 0 : 4))
            #expect(header.byteCount == bytes.count)
            #expect(parse(bytes + [1, 2, 3], from: sender) == .success(header))
            for end in bytes.indices {
                #expect(parse(Array(bytes[..<end]), from: sender) == .success(nil), "the first \(end) bytes")
            }
        }
    }

    @Test(
        arguments: [
            ([0xC1, 0x80], .reservedBits(.rsv1)), ([0xA1, 0x80], .reservedBits(.rsv2)),
            ([0x91, 0x80], .reservedBits(.rsv3)), ([0xF1, 0x80], .reservedBits([.rsv1, .rsv2, .rsv3])),
            ([0x83, 0x80], .reservedOpcode(3)), ([0x87, 0x80], .reservedOpcode(7)),
            ([0x8B, 0x80], .reservedOpcode(11)), ([0x8F, 0x80], .reservedOpcode(15)),
            ([0x08, 0x80], .fragmentedControlFrame), ([0x09, 0x80], .fragmentedControlFrame),
            ([0x0A, 0x80], .fragmentedControlFrame), ([0x88, 0xFE], .controlFrameTooLong),
            ([0x89, 0xFE, 0, 126], .controlFrameTooLong), ([0x8A, 0xFF], .controlFrameTooLong),
            ([0x81, 0xFE, 0, 125], .lengthNotMinimal), ([0x81, 0xFE, 0, 0], .lengthNotMinimal),
            ([0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .lengthNotMinimal),
            ([0x81, 0xFF, 0x80], .lengthOutOfRange), ([0x81, 0xFF, 0xFF, 0, 0, 0, 0, 1, 0, 0], .lengthOutOfRange),
            ([0x81, 0x05], .unmaskedFrame),
        ] as [([UInt8], FrameViolation)])
    func `a header against the rules is refused as soon as the byte is there`(
        _ bytes: [UInt8], _ violation: FrameViolation
    ) {
        #expect(parse(bytes) == .failure(violation))
        #expect(parse(bytes + [0, 0, 0, 0, 0, 0]) == .failure(violation))
        for end in bytes.indices {
            let result = parse(Array(bytes[..<end]))
            #expect(result == .success(nil) || result == .failure(violation), "the first \(end) bytes")
        }
    }

    @Test func `a masked frame from a server is refused`() {
        #expect(parse([0x81, 0x85], from: .server) == .failure(.maskedFrame))
    }

    @Test func `an extension's bit is taken on the first frame of a message only`() {
        let header = FrameHeader(.text, payloadLength: 5, reserved: .rsv1)
        #expect(parse([0xC1, 0x05], from: .server, allowing: .rsv1) == .success(header))
        #expect(parse([0xC0, 0x05], from: .server, allowing: .rsv1) == .failure(.reservedBits(.rsv1)))
        #expect(parse([0xC9, 0x05], from: .server, allowing: .rsv1) == .failure(.reservedBits(.rsv1)))
        #expect(parse([0xE1, 0x05], from: .server, allowing: .rsv1) == .failure(.reservedBits([.rsv1, .rsv2])))
    }
}
