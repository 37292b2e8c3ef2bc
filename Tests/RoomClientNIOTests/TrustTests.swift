import RoomClient
import TLSTransport
import Testing

@testable import RoomClientNIO

@Suite struct TrustTests {
    @Test(arguments: ["127.0.0.1", "localhost"], [0, 1, 2])
    func `a server is trusted by an authority in a file, or blindly`(name: String, kind: Int) async throws {
        let certificates = try Certificates.shared.get()
        let authority = certificates.certificate.authorityPath
        let trust: [NIOTransport.Trust] = [.systemAnd(file: authority), .authority(file: authority), .insecure]
        try await LoopbackServer.run(certificates, name: name) { server in
            let transport = try NIOTransport(trust: trust[kind], times: .patient)
            async let response = transport.send(ClientRequest("GET", "/", at: server.address))
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.answer("1")
            #expect(try await response.status == 200)
        }
    }

    @Test func `a certificate of an unknown authority is refused`() async throws {
        let certificates = try Certificates.shared.get()
        try await expectRefusal(
            certificates, trust: .system,
            "the certificate of 127.0.0.1 is signed by an authority that is not trusted here", .unknownAuthority)
        let other = try Certificates()
        try await expectRefusal(
            certificates, trust: .systemAnd(file: other.certificate.authorityPath),
            "the certificate of 127.0.0.1 is signed by an authority that is not trusted here", .unknownAuthority)
    }

    @Test func `a certificate for another name is refused`() async throws {
        let certificates = try Certificates.shared.get()
        try await expectRefusal(
            certificates, host: "127.0.0.2", trust: .systemAnd(file: certificates.certificate.authorityPath),
            "the certificate that 127.0.0.2 shows is for another name", .otherName)
    }

    @Test func `a certificate that has expired, or is not valid yet, is refused`() async throws {
        let expired = try Certificates(daysAgo: 500)
        try await expectRefusal(
            expired, trust: .systemAnd(file: expired.certificate.authorityPath),
            "the certificate of 127.0.0.1 has expired", .expired)
        let early = try Certificates(daysAgo: -2)
        try await expectRefusal(
            early, trust: .systemAnd(file: early.certificate.authorityPath),
            "the certificate of 127.0.0.1 is not valid yet; is this device's clock right?", .notYetValid)
    }

    @Test func `a file without certificates is told when the transport is made`() throws {
        let fault = #expect(throws: TransportFault.self) {
            try NIOTransport(trust: .systemAnd(file: "/nonexistent/ca.pem"))
        }
        #expect(fault?.reason == "cannot use the file /nonexistent/ca.pem: No such file or directory")
        #expect(fault?.isLasting == true)
    }

    @Test func `a server without TLS is not spoken to in plain text`() async throws {
        try await LoopbackServer.run { server in
            let secure = try #require(ServerAddress("https://127.0.0.1:\(server.address.port)"))
            let transport = try NIOTransport(trust: .insecure, times: .patient)
            let response = Task {
                try await transport.send(
                    ClientRequest("GET", "/", at: secure, fields: ["authorization": "Bearer secret"]))
            }
            let peer = try await server.accept()
            try await peer.send("HTTP/1.1 400 Bad Request\n\n")
            let fault = await #expect(throws: TransportFault.self) { try await response.value }
            #expect(fault?.reason.hasPrefix("no encrypted connection to 127.0.0.1") == true)
            #expect(fault?.isLasting == false)
        }
    }

    /// The request, which has a secret in it, must not have been sent.
    private func expectRefusal(
        _ certificates: Certificates, host: String = "127.0.0.1", trust: NIOTransport.Trust, _ reason: String,
        _ kind: CertificateRejection.Kind, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await LoopbackServer.run(certificates, host: host) { server in
            let transport = try NIOTransport(trust: trust, times: .patient)
            let request = ClientRequest("GET", "/", at: server.address, fields: ["authorization": "Bearer secret"])
            let faults = [
                await #expect(throws: TransportFault.self, sourceLocation: sourceLocation) {
                    try await transport.send(request)
                },
                await #expect(throws: TransportFault.self, sourceLocation: sourceLocation) {
                    try await transport.connect(request)
                },
            ]
            for fault in faults {
                #expect(fault?.reason == reason && fault?.isLasting == true, sourceLocation: sourceLocation)
                guard case .certificateRejected(let rejection)? = fault?.cause as? TLSFault else {
                    Issue.record("\(fault?.cause as Any)", sourceLocation: sourceLocation)
                    continue
                }
                #expect(rejection.kind == kind, sourceLocation: sourceLocation)
                #expect(try await server.accept().ended() == 0, sourceLocation: sourceLocation)
            }
        }
    }
}
