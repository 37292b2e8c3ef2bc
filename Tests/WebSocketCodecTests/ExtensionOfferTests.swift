import NIOCore
import Testing
import WebSocketCodec

struct ExtensionOfferTests {
    /// The offers of a request with these `Sec-WebSocket-Extensions` fields.
    private func offers(_ values: String...) throws -> [ExtensionOffer] {
        try ServerHandshake(
            try requestHead(values.map { ("Sec-WebSocket-Extensions", $0) }), subprotocols: []
        ).extensionOffers
    }

    private func offer(_ name: String, _ parameters: (String, String?)...) throws -> ExtensionOffer {
        let parameters = try parameters.map { try #require(ExtensionOffer.Parameter($0.0, $0.1)) }
        return try #require(ExtensionOffer(name, parameters: parameters))
    }

    @Test func `a request without offers has none`() throws {
        #expect(try offers() == [])
        #expect(try offers("") == [])
    }

    /// RFC 6455 §9.1.
    @Test func `the RFC's examples are read`() throws {
        #expect(try offers("foo") == [offer("foo")])
        #expect(try offers("bar; baz=2") == [offer("bar", ("baz", "2"))])
        #expect(
            try offers("foo, bar; baz=2", "deflate-stream")
                == [offer("foo"), offer("bar", ("baz", "2")), offer("deflate-stream")])
    }

    /// RFC 7692 §7.
    @Test func `offers of compression are kept with their parameters and order`() throws {
        let expected = [
            try offer("permessage-deflate", ("client_max_window_bits", nil), ("server_max_window_bits", "10")),
            try offer("permessage-deflate", ("client_max_window_bits", nil)),
        ]
        let value =
            "permessage-deflate; client_max_window_bits; server_max_window_bits=10, "
            + "permessage-deflate; client_max_window_bits"
        #expect(try offers(value) == expected)
        #expect(
            try offers(
                "permessage-deflate;client_max_window_bits ; server_max_window_bits = \"1\\0\" ,,\tpermessage-deflate;client_max_window_bits,"
            ) == expected)
        #expect(expected.map(\.fieldValue).joined(separator: ", ") == value)
    }

    @Test(arguments: [
        "a b", ";a", "a;", "a; b=", "a; =b", "a; b=\"c", "a; b=\"\"", "a; b=\"c d\"", "a; b=c d", "a; b=\"c\"d",
        "a; b=\"c\\", "a=b", "a; b==c", "(a)", "a, b;", "a; b=\"c,d\"", "ä",
    ])
    func `offers that do not follow the grammar are refused`(_ value: String) {
        #expect(throws: HandshakeViolation.malformedExtensions) { try offers(value) }
    }

    @Test func `names and values that are no tokens cannot be made`() {
        #expect(ExtensionOffer("a b") == nil)
        #expect(ExtensionOffer("") == nil)
        #expect(ExtensionOffer.Parameter("a;") == nil)
        #expect(ExtensionOffer.Parameter("a", "") == nil)
        #expect(ExtensionOffer.Parameter("a", "b\r\nc") == nil)
    }
}
