import NIOCore
import Testing
import WebSocketCodec

struct CloseCodeTests {
    /// RFC 6455 §7.4 and the IANA registry.
    private static let valid = Set([1000, 1001, 1002, 1003]).union(1007...1014).union(3000...4999)

    @Test func `exactly the codes that may be sent can be made`() {
        let made = (UInt16.min ... .max).filter { CloseCode(rawValue: $0) != nil }
        #expect(made.map { Int($0) } == Self.valid.sorted())
    }

    @Test func `the known codes have their numbers`() {
        let known: [CloseCode] = [
            .normal, .goingAway, .protocolError, .unsupportedData, .invalidPayload, .policyViolation, .messageTooBig,
            .missingExtension, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
        ]
        #expect(known.map(\.rawValue) == [1000, 1001, 1002, 1003] + Array(1007...1014))
    }

    @Test(
        arguments: [
            (.reservedBits(.rsv1), 1002), (.reservedOpcode(3), 1002), (.fragmentedControlFrame, 1002),
            (.controlFrameTooLong, 1002), (.lengthNotMinimal, 1002), (.lengthOutOfRange, 1002), (.unmaskedFrame, 1002),
            (.maskedFrame, 1002), (.unexpectedContinuation, 1002), (.interleavedMessage, 1002),
            (.closePayloadTooShort, 1002), (.invalidCloseCode(1005), 1002), (.invalidUTF8, 1007),
            (.messageTooLong(limit: 1), 1009), (.invalidDeflate, 1007), (.outOfMemory, 1011),
        ] as [(FrameViolation, UInt16)])
    func `every violation closes with its code`(_ violation: FrameViolation, _ code: UInt16) {
        #expect(violation.closeCode.rawValue == code)
    }

    @Test func `a reason's text is cut at the last scalar that fits`() {
        let fits = String(repeating: "a", count: 123)
        #expect(CloseReason(.normal, fits).text == fits)
        #expect(CloseReason(.normal, fits + "a").text == fits)
        #expect(CloseReason(.normal, String(repeating: "a", count: 122) + "é").text == fits.dropLast())
        #expect(CloseReason(.normal, String(repeating: "😀", count: 40)).text == String(repeating: "😀", count: 30))
        #expect(CloseReason(.normal, "e" + String(repeating: "\u{301}", count: 100)).text.utf8.count == 123)
    }
}
