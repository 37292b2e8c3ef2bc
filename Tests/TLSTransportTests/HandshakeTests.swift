import Foundation
import NIOCore
import NIOEmbedded
import RandomTestSupport
import Synchronization
import Testing

@testable import TLSTransport

@Suite struct HandshakeTests {
    @Test func `client and server agree on TLS 1.3 and http 1.1`() throws {
        let pair = try EmbeddedPair.connected()
        let expected = TLSHandshakeCompleted(applicationProtocol: "http/1.1", version: .tls13, resumed: false)
        #expect(pair.client.recorder.events == [expected])
        #expect(pair.server.recorder.events == [expected])
        #expect(pair.client.recorder.faults == [] && pair.server.recorder.faults == [])
    }

    @Test(arguments: [1, 2, 5, 7, 100, 1_000])
    func `handshake and data arrive whole however they are cut`(piece: Int) throws {
        let pair = try EmbeddedPair()
        try pair.exchange(piece: piece)
        pair.client.writeAndFlush("from the client")
        pair.server.writeAndFlush(String(repeating: "from the server ", count: 2_000))
        try pair.exchange(piece: piece)
        #expect(pair.server.recorder.text == "from the client")
        #expect(pair.client.recorder.text == String(repeating: "from the server ", count: 2_000))
    }

    @Test func `bytes written before the handshake are sent when it is done`() throws {
        let pair = try EmbeddedPair()
        let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
        pair.client.write("early ")
        pair.client.channel.writeAndFlush(ByteBuffer(string: "words"), promise: promise)
        pair.server.writeAndFlush("answer")
        #expect(pair.client.tls.unsentByteCount == 11)
        try pair.exchange()
        try promise.futureResult.wait()
        #expect(pair.server.recorder.text == "early words")
        #expect(pair.client.recorder.text == "answer")
        #expect(pair.client.tls.unsentByteCount == 0)
    }

    @Test func `the handshake needs no reads from the application`() throws {
        let pair = try EmbeddedPair()
        try pair.server.channel.setOption(.autoRead, value: false).wait()
        try pair.exchange()
        #expect(pair.server.recorder.events.count == 1)
    }

    @Test func `a step of a handshake waits for its turn, and later bytes follow it`() throws {
        let turns = Turns()
        let pair = try EmbeddedPair { step in turns.put(step) }
        pair.client.write("early words")
        try pair.exchange()
        #expect(pair.client.recorder.events == [] && pair.server.tls.isFreed, "nothing is made before its turn")
        turns.take()
        try pair.exchange()
        // The client is done, and its data waits for the server's last step.
        #expect(pair.client.recorder.events.count == 1 && pair.server.recorder.events == [])
        pair.client.writeAndFlush(", and more")
        try pair.exchange()
        #expect(pair.server.recorder.text == "")
        turns.take()
        #expect(pair.server.recorder.events.count == 1 && pair.server.recorder.text == "early words, and more")
        pair.client.writeAndFlush("!")
        try pair.exchange()
        #expect(pair.server.recorder.text == "early words, and more!", "what is open waits no more")
    }

    @Test func `a connection that ends before its turn is over`() throws {
        let turns = Turns()
        let pair = try EmbeddedPair { step in turns.put(step) }
        try pair.exchange()
        try pair.server.channel.close().wait()
        turns.take()
        #expect(pair.server.tls.isFreed && pair.server.recorder.events == [])
        #expect(try pair.server.takeOutbound().isEmpty)
    }

    @Test func `a certificate with another fingerprint is refused before any data`() throws {
        let wrong = SHA256Digest(hashing: [])
        let pair = try EmbeddedPair(client: TLSContext(clientVerifying: .fingerprint(wrong)))
        pair.client.writeAndFlush("secret")
        try pair.exchange()
        let actual = try Identity.shared.get().certificate.fingerprint
        #expect(pair.client.recorder.faults == [.fingerprintMismatch(expected: wrong, actual: actual)])
        #expect(!pair.client.channel.isActive)
        #expect(pair.server.recorder.text == "" && pair.server.recorder.events == [])
    }

    @Test(arguments: ["localhost", "127.0.0.1", "::1"])
    func `a given authority vouches for the name the certificate has`(name: String) throws {
        let path = try Identity.shared.get().certificate.certificatePath
        let context = try TLSContext(clientVerifying: .certificateAuthority(path: path))
        let pair = try EmbeddedPair(client: context, serverName: name)
        try pair.exchange()
        #expect(pair.client.recorder.events.count == 1 && pair.client.recorder.faults == [])
    }

    @Test(arguments: ["example.org", "127.0.0.2", "localhost.example.org"])
    func `a given authority does not vouch for another name`(name: String) throws {
        let path = try Identity.shared.get().certificate.certificatePath
        let context = try TLSContext(clientVerifying: .certificateAuthority(path: path))
        let pair = try EmbeddedPair(client: context, serverName: name)
        try pair.exchange()
        guard case .certificateRejected(let reason)? = pair.client.recorder.faults.first else {
            Issue.record("\(pair.client.recorder.faults)")
            return
        }
        #expect(reason.kind == .otherName && reason.description.contains("mismatch"))
        #expect(pair.client.recorder.events == [] && !pair.client.channel.isActive)
        // An alert informs the server.
        guard case .handshake(let error)? = pair.server.recorder.faults.first else {
            Issue.record("\(pair.server.recorder.faults)")
            return
        }
        #expect(error.description.contains("alert"))
    }

    @Test func `the system's authorities do not vouch for a self-signed certificate`() throws {
        let pair = try EmbeddedPair(client: TLSContext(clientVerifying: .system), serverName: "localhost")
        try pair.exchange()
        guard case .certificateRejected(let reason)? = pair.client.recorder.faults.first else {
            Issue.record("\(pair.client.recorder.faults)")
            return
        }
        #expect(reason.kind == .unknownAuthority)
        #expect(reason.description.contains("self-signed") || reason.description.contains("self signed"))
    }

    @Test(arguments: [(-500, CertificateRejection.Kind.expired), (2, .notYetValid)])
    func `a certificate is accepted only between its dates`(
        days: Int, kind: CertificateRejection.Kind
    ) throws {
        let directory = try TemporaryDirectory()
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path, now: time(nil) + days * 86_400)
        let pair = try EmbeddedPair(
            client: TLSContext(clientVerifying: .certificateAuthority(path: made.authorityPath)),
            server: TLSContext(serverCertificateChain: made.certificatePath, privateKey: made.keyPath),
            serverName: "localhost")
        try pair.exchange()
        guard case .certificateRejected(let reason)? = pair.client.recorder.faults.first else {
            Issue.record("\(pair.client.recorder.faults)")
            return
        }
        #expect(reason.kind == kind)
    }

    @Test func `an authority beside the system's vouches for what it signed, and no other does`() throws {
        let directory = try TemporaryDirectory()
        let other = try DevelopmentCertificate.load(orMakeIn: directory.path)
        let path = try Identity.shared.get().certificate.authorityPath
        let trusting = try EmbeddedPair(
            client: TLSContext(clientVerifying: .systemAnd(path: path)), serverName: "localhost")
        try trusting.exchange()
        #expect(trusting.client.recorder.events.count == 1 && trusting.client.recorder.faults == [])
        let wary = try EmbeddedPair(
            client: TLSContext(clientVerifying: .systemAnd(path: other.authorityPath)), serverName: "localhost")
        try wary.exchange()
        guard case .certificateRejected(let reason)? = wary.client.recorder.faults.first else {
            Issue.record("\(wary.client.recorder.faults)")
            return
        }
        #expect(reason.kind == .unknownAuthority)
    }

    @Test func `the system's authorities count beside a file's`() async {
        // In a process of its own, because OpenSSL reads the environment.
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let ofSystem = try DevelopmentCertificate.load(orMakeIn: directory.path + "/system")
            let ofFile = try DevelopmentCertificate.load(orMakeIn: directory.path + "/file")
            _ = unsafe setenv("SSL_CERT_FILE", ofSystem.authorityPath, 1)
            let client = try TLSContext(clientVerifying: .systemAnd(path: ofFile.authorityPath))
            for made in [ofSystem, ofFile] {
                let server = try TLSContext(serverCertificateChain: made.certificatePath, privateKey: made.keyPath)
                let pair = try EmbeddedPair(client: client, server: server, serverName: "localhost")
                try pair.exchange()
                try #require(pair.client.recorder.events.count == 1)
            }
        }
    }

    @Test(arguments: ["", "a..b", "a b", "a,DNS:evil", "é", String(repeating: "a", count: 64)])
    func `an invalid host name is refused as server name`(name: String) throws {
        let context = try TLSContext(clientVerifying: .system)
        let end = try EmbeddedEnd(context, TLSEventLoopResources(), serverName: name)
        try end.channel.connect(to: SocketAddress(unixDomainSocketPath: "/client")).wait()
        #expect(end.recorder.faults == [.invalidHostName(name)])
        #expect(!end.channel.isActive)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}", "SSH-2.0-x\r\n",
        String(repeating: "\0", count: 70_000),
    ])
    func `plain text and garbage end the connection and nothing else`(text: String) throws {
        let pair = try EmbeddedPair()
        _ = try? pair.server.channel.writeInbound(ByteBuffer(string: text))
        if pair.server.channel.isActive {
            pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        #expect(pair.server.recorder.faults.count == 1)
        #expect(pair.server.recorder.text == "" && pair.server.recorder.events == [])
        #expect(!pair.server.channel.isActive && pair.server.tls.isFreed)
    }

    @Test func `random bytes never crash a server`() throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        let identity = try Identity.shared.get()
        let resources = try TLSEventLoopResources()
        for _ in 0..<500 {
            let end = try EmbeddedEnd(identity.server, resources)
            try end.channel.connect(to: SocketAddress(unixDomainSocketPath: "/server")).wait()
            // Half of them look like the beginning of a handshake record.
            var bytes: [UInt8] =
                Bool.random(using: &random) ? [22, 3, 1, 0, UInt8.random(in: 0...255, using: &random), 1] : []
            bytes += (0..<Int.random(in: 1...400, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            _ = try? end.channel.writeInbound(ByteBuffer(bytes: bytes))
            #expect(end.recorder.events == [] && end.recorder.text == "")
            try? end.channel.close().wait()
            #expect(end.tls.isFreed)
        }
    }

    @Test func `a handshake with one byte changed never delivers data`() throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let pair = try EmbeddedPair()
            pair.client.writeAndFlush("secret")
            var broken = false
            // Each flight of either side has the same probability.
            var countdown = Int.random(in: 0..<3, using: &random)
            for _ in 0..<6 {
                for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
                    for var buffer in try from.takeOutbound() where to.channel.isActive {
                        if countdown == 0, !broken {
                            broken = true
                            let index = buffer.readerIndex + Int.random(in: 0..<buffer.readableBytes, using: &random)
                            let byte = try #require(buffer.getInteger(at: index, as: UInt8.self))
                            buffer.setInteger(byte ^ (1 << UInt8.random(in: 0..<8, using: &random)), at: index)
                        }
                        countdown -= 1
                        _ = try? to.channel.writeInbound(buffer)
                    }
                }
            }
            #expect(pair.server.recorder.text == "" || pair.server.recorder.text == "secret")
            if pair.server.recorder.text == "secret" {
                // The changed bits are ones that nobody checks: a record's legacy version (RFC 8446 §5.1), or a ticket.
                #expect(pair.server.recorder.events.count == 1)
            }
            try? pair.client.channel.close().wait()
            try? pair.server.channel.close().wait()
            #expect(pair.client.tls.isFreed && pair.server.tls.isFreed)
        }
    }

    @Test func `the peer closing during the handshake is told apart`() throws {
        let pair = try EmbeddedPair()
        try pair.server.channel.close().wait()
        pair.client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.client.recorder.faults == [.closedDuringHandshake])
        #expect(!pair.client.channel.isActive)
    }
}

/// Steps of handshakes that wait for their turn.
private final class Turns: Sendable {
    private let steps = Mutex<[@Sendable () -> Void]>([])

    func put(_ step: @escaping @Sendable () -> Void) -> Bool {
        steps.withLock { $0.append(step) }
        return false
    }

    /// Runs the step that waits.
    func take() {
        let waiting = steps.withLock { steps in
            defer { steps = [] }
            return steps
        }
        #expect(waiting.count == 1)
        for step in waiting { step() }
    }
}
