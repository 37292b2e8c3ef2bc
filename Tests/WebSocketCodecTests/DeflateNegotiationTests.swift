import NIOCore
import Testing
import WebSocketCodec

struct DeflateNegotiationTests {
    /// The extensions of a `Sec-WebSocket-Extensions` field.
    private func extensions(_ value: String) throws -> [ExtensionOffer] {
        try ServerHandshake(try requestHead([("Sec-WebSocket-Extensions", value)]), subprotocols: []).extensionOffers
    }

    private func value(_ extensions: [ExtensionOffer]) -> String {
        extensions.map(\.fieldValue).joined(separator: ", ")
    }

    /// One negotiation: parameters after `permessage-deflate`.
    struct Row: Sendable, CustomTestStringConvertible {
        let offer: String
        let policy: DeflatePolicy
        let response: String
        let parameters: DeflateParameters

        init(
            _ offer: String, _ policy: DeflatePolicy = .contextTakeover, _ response: String,
            _ parameters: DeflateParameters = DeflateParameters()
        ) {
            self.offer = offer
            self.policy = policy
            self.response = response
            self.parameters = parameters
        }

        var testDescription: String { "\(self.offer) -> \(self.response)" }
    }

    private static func policy(server: Int = 15, client: Int = 15) -> DeflatePolicy {
        DeflatePolicy(
            serverNoContextTakeover: false, clientNoContextTakeover: false, serverMaxWindowBits: server,
            clientMaxWindowBits: client)
    }

    // Server

    @Test(arguments: [
        Row("", .contextTakeover, ""),
        Row(
            "", .noContextTakeover, "; server_no_context_takeover; client_no_context_takeover",
            DeflateParameters(serverNoContextTakeover: true, clientNoContextTakeover: true)),
        Row(
            "; server_no_context_takeover", .contextTakeover, "; server_no_context_takeover",
            DeflateParameters(serverNoContextTakeover: true)),
        Row(
            "; client_no_context_takeover", .contextTakeover, "; client_no_context_takeover",
            DeflateParameters(clientNoContextTakeover: true)),
        Row(
            "; client_no_context_takeover; server_no_context_takeover", .noContextTakeover,
            "; server_no_context_takeover; client_no_context_takeover",
            DeflateParameters(serverNoContextTakeover: true, clientNoContextTakeover: true)),
        Row(
            "", DeflatePolicy(serverNoContextTakeover: true, clientNoContextTakeover: false),
            "; server_no_context_takeover", DeflateParameters(serverNoContextTakeover: true)),
        Row(
            "", DeflatePolicy(serverNoContextTakeover: false, clientNoContextTakeover: true),
            "; client_no_context_takeover", DeflateParameters(clientNoContextTakeover: true)),
        // the window of the server
        Row(
            "; server_max_window_bits=15", .contextTakeover, "; server_max_window_bits=15",
            DeflateParameters(serverMaxWindowBits: 15)),
        Row(
            "; server_max_window_bits=9", .contextTakeover, "; server_max_window_bits=9",
            DeflateParameters(serverMaxWindowBits: 9)),
        Row(
            "; server_max_window_bits=8", .contextTakeover, "; server_max_window_bits=8",
            DeflateParameters(serverMaxWindowBits: 8)),
        Row("", policy(server: 12), "; server_max_window_bits=12", DeflateParameters(serverMaxWindowBits: 12)),
        Row(
            "; server_max_window_bits=10", policy(server: 12), "; server_max_window_bits=10",
            DeflateParameters(serverMaxWindowBits: 10)),
        Row(
            "; server_max_window_bits=14", policy(server: 12), "; server_max_window_bits=12",
            DeflateParameters(serverMaxWindowBits: 12)),
        // the window of the client
        Row("; client_max_window_bits", .contextTakeover, ""),
        Row(
            "; client_max_window_bits=15", .contextTakeover, "; client_max_window_bits=15",
            DeflateParameters(clientMaxWindowBits: 15)),
        Row(
            "; client_max_window_bits=8", .contextTakeover, "; client_max_window_bits=8",
            DeflateParameters(clientMaxWindowBits: 8)),
        Row("", policy(client: 11), ""),
        Row(
            "; client_max_window_bits", policy(client: 11), "; client_max_window_bits=11",
            DeflateParameters(clientMaxWindowBits: 11)),
        Row(
            "; client_max_window_bits=9", policy(client: 11), "; client_max_window_bits=9",
            DeflateParameters(clientMaxWindowBits: 9)),
        Row(
            "; client_max_window_bits=13", policy(client: 11), "; client_max_window_bits=11",
            DeflateParameters(clientMaxWindowBits: 11)),
        // all of them
        Row(
            "; client_max_window_bits=12; server_max_window_bits=\"10\"; client_no_context_takeover",
            DeflatePolicy(clientMaxWindowBits: 14),
            "; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10; "
                + "client_max_window_bits=12",
            DeflateParameters(
                serverNoContextTakeover: true, clientNoContextTakeover: true, serverMaxWindowBits: 10,
                clientMaxWindowBits: 12)),
    ])
    func `a server agrees to an offer`(_ row: Row) throws {
        let agreed = try #require(
            DeflateParameters.negotiate(try extensions("permessage-deflate" + row.offer), policy: row.policy))
        #expect(agreed.response.fieldValue == "permessage-deflate" + row.response)
        #expect(agreed.parameters == row.parameters)
        // this client finds no fault in the response
        let client = try DeflateParameters.agree(
            on: [agreed.response], to: try extensions("permessage-deflate" + row.offer))
        #expect(client == row.parameters)
    }

    private static let badParameters = [
        "x", "x=1", "server_no_context_takeover=1", "client_no_context_takeover=true", "server_max_window_bits",
        "server_max_window_bits=7", "server_max_window_bits=16", "server_max_window_bits=08",
        "server_max_window_bits=+9", "server_max_window_bits=9.0", "server_max_window_bits=1",
        "server_max_window_bits=115", "server_max_window_bits=18446744073709551624", "client_max_window_bits=7",
        "client_max_window_bits=16", "client_max_window_bits=015", "client_max_window_bits=a",
        "Server_no_context_takeover", "server_no_context_takeover; server_no_context_takeover",
        "client_no_context_takeover; client_no_context_takeover",
        "server_max_window_bits=9; server_max_window_bits=9", "client_max_window_bits; client_max_window_bits",
        "client_max_window_bits=9; client_max_window_bits",
    ]

    @Test(arguments: badParameters)
    func `a server declines an offer with a bad parameter and takes the next`(_ parameters: String) throws {
        let bad = "permessage-deflate; " + parameters
        #expect(try DeflateParameters.negotiate(extensions(bad), policy: .contextTakeover) == nil)
        let next = try #require(
            try DeflateParameters.negotiate(
                extensions(bad + ", permessage-deflate; server_max_window_bits=9, permessage-deflate"),
                policy: .contextTakeover))
        #expect(next.parameters == DeflateParameters(serverMaxWindowBits: 9))
    }

    @Test(arguments: ["", "foo", "x-webkit-deflate-frame; no_context_takeover", "Permessage-Deflate"])
    func `a server without a known offer compresses nothing`(_ offers: String) throws {
        #expect(try DeflateParameters.negotiate(extensions(offers)) == nil)
    }

    @Test func `a server takes the first offer of the client's order`() throws {
        let offers = try extensions("foo; x=1, permessage-deflate; client_max_window_bits=9, permessage-deflate")
        let agreed = try #require(DeflateParameters.negotiate(offers, policy: .contextTakeover))
        #expect(agreed.parameters == DeflateParameters(clientMaxWindowBits: 9))
    }

    // Client

    @Test(
        arguments: [
            (
                .noContextTakeover,
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits"
            ),
            (.contextTakeover, "permessage-deflate; client_max_window_bits"),
            (policy(server: 10), "permessage-deflate; server_max_window_bits=10; client_max_window_bits"),
            (policy(client: 8), "permessage-deflate; client_max_window_bits=8"),
        ] as [(DeflatePolicy, String)])
    func `a client offers what its policy wants`(_ policy: DeflatePolicy, _ expected: String) {
        #expect(value(DeflateParameters.offers(policy)) == expected)
    }

    @Test(arguments: [
        Row("", .contextTakeover, ""),
        Row("", .contextTakeover, "; server_no_context_takeover", DeflateParameters(serverNoContextTakeover: true)),
        Row("", .contextTakeover, "; client_no_context_takeover", DeflateParameters(clientNoContextTakeover: true)),
        Row("", .contextTakeover, "; server_max_window_bits=11", DeflateParameters(serverMaxWindowBits: 11)),
        Row(
            "; server_max_window_bits=11", .contextTakeover, "; server_max_window_bits=9",
            DeflateParameters(serverMaxWindowBits: 9)),
        Row("; client_max_window_bits", .contextTakeover, ""),
        Row(
            "; client_max_window_bits", .contextTakeover, "; client_max_window_bits=8",
            DeflateParameters(clientMaxWindowBits: 8)),
        Row(
            "; client_max_window_bits=10", .contextTakeover, "; client_max_window_bits=\"9\"",
            DeflateParameters(clientMaxWindowBits: 9)),
        // a client keeps to its own hint
        Row("; client_max_window_bits=10", .contextTakeover, "", DeflateParameters(clientMaxWindowBits: 10)),
        Row("; client_no_context_takeover", .contextTakeover, "", DeflateParameters(clientNoContextTakeover: true)),
        // the second offer is the one that was accepted
        Row(
            "; server_max_window_bits=10, permessage-deflate; server_no_context_takeover", .contextTakeover,
            "; server_no_context_takeover", DeflateParameters(serverNoContextTakeover: true)),
    ])
    func `a client agrees on a response that fits its offer`(_ row: Row) throws {
        let agreed = try DeflateParameters.agree(
            on: try extensions("foo, permessage-deflate" + row.response),
            to: try extensions("permessage-deflate" + row.offer))
        #expect(agreed == row.parameters)
    }

    @Test(arguments: badParameters)
    func `a client refuses a response with a bad parameter`(_ parameters: String) throws {
        let response = try extensions("permessage-deflate; " + parameters)
        let offers = try extensions("permessage-deflate; client_max_window_bits")
        #expect(throws: HandshakeViolation.invalidDeflateResponse) {
            try DeflateParameters.agree(on: response, to: offers)
        }
    }

    @Test(arguments: [
        ("permessage-deflate", "permessage-deflate; client_max_window_bits=15"),
        ("permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits"),
        ("permessage-deflate; client_max_window_bits=9", "permessage-deflate; client_max_window_bits=10"),
        ("permessage-deflate; server_max_window_bits=9", "permessage-deflate"),
        ("permessage-deflate; server_max_window_bits=9", "permessage-deflate; server_max_window_bits=10"),
        ("permessage-deflate; server_no_context_takeover", "permessage-deflate"),
        ("permessage-deflate", "permessage-deflate, permessage-deflate"),
        ("foo", "permessage-deflate"),
        ("permessage-deflate; x", "permessage-deflate"),
    ])
    func `a client refuses a response that does not fit its offer`(_ offer: String, _ response: String) throws {
        let (offers, response) = (try extensions(offer), try extensions(response))
        #expect(throws: HandshakeViolation.invalidDeflateResponse) {
            try DeflateParameters.agree(on: response, to: offers)
        }
    }

    @Test func `a client whose offer is not taken does not compress`() throws {
        #expect(try DeflateParameters.agree(on: [], to: DeflateParameters.offers()) == nil)
        #expect(try DeflateParameters.agree(on: extensions("foo"), to: DeflateParameters.offers()) == nil)
    }

    @Test func `both ends agree on the same parameters, whatever their policies`() throws {
        let wishes: [DeflatePolicy] = [false, true].flatMap { serverAlone in
            [false, true].flatMap { clientAlone in
                [8, 11, 15].flatMap { serverBits in
                    [8, 11, 15].map { clientBits in
                        DeflatePolicy(
                            serverNoContextTakeover: serverAlone, clientNoContextTakeover: clientAlone,
                            serverMaxWindowBits: serverBits, clientMaxWindowBits: clientBits)
                    }
                }
            }
        }
        for client in wishes {
            for server in wishes {
                let offers = DeflateParameters.offers(client)
                let agreed = try #require(DeflateParameters.negotiate(offers, policy: server))
                #expect(try DeflateParameters.agree(on: [agreed.response], to: offers) == agreed.parameters)
                #expect(
                    agreed.parameters
                        == DeflateParameters(
                            serverNoContextTakeover: client.serverNoContextTakeover || server.serverNoContextTakeover,
                            clientNoContextTakeover: client.clientNoContextTakeover || server.clientNoContextTakeover,
                            serverMaxWindowBits: min(client.serverMaxWindowBits, server.serverMaxWindowBits),
                            clientMaxWindowBits: min(client.clientMaxWindowBits, server.clientMaxWindowBits)))
            }
        }
    }

    @Test func `a message fits a window that is at least as long`() {
        let parameters = DeflateParameters(serverMaxWindowBits: 9, clientMaxWindowBits: 15)
        #expect(parameters.fits(512))
        #expect(!parameters.fits(513))
        #expect(parameters.fits(1_000_000, from: .client))
        #expect(DeflateParameters(clientMaxWindowBits: 8).fits(256, from: .client))
        #expect(!DeflateParameters(clientMaxWindowBits: 8).fits(257, from: .client))
    }
}
