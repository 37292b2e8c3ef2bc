import NIOCore
import WebSocketCodec

/// A reader's result for pieces that arrive one after the other, each in a buffer of its own.
struct MessageReading: Equatable {
    private(set) var steps: [MessageReader.Step] = []
    private(set) var violation: FrameViolation?

    /// Feeds the pieces to a new reader until one is refused, and checks the reader's promises on the way.
    ///
    /// - Parameters:
    ///   - pieces: The bytes from the peer.
    ///   - setup: The reader's role and limit.
    ///   - isShared: Whether another variable holds each buffer, so that nothing can be unmasked in place.
    /// - Throws: ``BrokenProperty`` if the reader breaks a promise.
    init(
        _ pieces: [ArraySlice<UInt8>], _ setup: FramesProperty.Setup, isShared: Bool = false
    ) throws(BrokenProperty) {
        var reader = MessageReader(
            role: setup.role, maximumMessageLength: setup.limit, deflate: setup.deflate)
        for piece in pieces {
            var bytes = ByteBuffer(bytes: piece)
            let other = isShared ? bytes : nil
            try self.feed(&bytes, to: &reader, setup)
            withExtendedLifetime(other) {}
            if self.violation != nil { return }
        }
    }

    private mutating func feed(
        _ bytes: inout ByteBuffer, to reader: inout MessageReader, _ setup: FramesProperty.Setup
    ) throws(BrokenProperty) {
        while true {
            let result = Self.receive(&bytes, by: &reader)
            // The buffers of a message and of a control frame grow to powers of two.
            let bound = setup.payloadLimit.roundedUpToPowerOfTwo + 128
            try require(reader.heldCapacity <= bound, "\(reader.heldCapacity) bytes held, limit \(setup.limit)")
            switch result {
            case .success(let step?):
                self.steps.append(step)
                try Self.check(step, limit: setup.limit, held: reader.heldCapacity)
            case .success(nil):
                try require(bytes.readableBytes == 0, "\(bytes.readableBytes) bytes left")
                return
            case .failure(let violation):
                self.violation = violation
                try require(reader.heldCapacity == 0, "\(reader.heldCapacity) bytes held after a violation")
                var more = ByteBuffer(bytes: [0x81, 0x00])
                let again = Self.receive(&more, by: &reader)
                try require(again == .failure(violation) && more.readableBytes == 2, "\(violation), then \(again)")
                return
            }
        }
    }

    private static func receive(
        _ bytes: inout ByteBuffer, by reader: inout MessageReader
    ) -> Result<MessageReader.Step?, FrameViolation> {
        do throws(FrameViolation) {
            return .success(try reader.receive(&bytes))
        } catch {
            return .failure(error)
        }
    }

    private static func check(_ step: MessageReader.Step, limit: Int, held: Int) throws(BrokenProperty) {
        switch step {
        case .text(let payload):
            try require(payload.readableBytes <= limit, "\(payload.readableBytes) bytes of text, limit \(limit)")
            try require(
                payload.getString(at: payload.readerIndex, length: payload.readableBytes)
                    .map { $0.utf8.elementsEqual(payload.readableBytesView) } == true,
                "text that is not UTF-8: \(payload)")
            try require(held == 0, "\(held) bytes held after a message")
        case .binary(let payload):
            try require(payload.readableBytes <= limit, "\(payload.readableBytes) bytes, limit \(limit)")
            try require(held == 0, "\(held) bytes held after a message")
        case .ping(let payload), .pong(let payload):
            try require(payload.readableBytes <= 125, "a control frame of \(payload.readableBytes) bytes")
        case .close:
            try require(held == 0, "\(held) bytes held after the end")
        }
    }
}

extension Int {
    /// The least power of two that is not less than the number.
    var roundedUpToPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
