import NIOCore
import RoomClient
import Testing
import WebSocketCodec

@testable import RoomClientNIO

@Suite struct SocketTests {
    @Test(arguments: [DeflatePolicy?.none, .noContextTakeover, .contextTakeover])
    func `messages of every length go both ways`(compressing: DeflatePolicy?) async throws {
        let certificates = try Certificates.shared.get()
        try await withSocket(certificates, compressing: compressing) { socket, peer in
            for count in [0, 1, 125, 126, 65_535, 65_536, 300_000] {
                let text = String(String(repeating: "grüße ", count: count / 5 + 1).unicodeScalars.prefix(count))
                async let sent: Void = socket.send(Array(text.utf8))
                #expect(try await peer.step() == .text(ByteBuffer(string: text)))
                try await sent
                try await peer.message(text)
                #expect(try await socket.receive() == Array(text.utf8))
            }
        }
    }

    @Test func `a message of 16 MiB arrives, and a longer one closes the socket`() async throws {
        try await withSocket { socket, peer in
            let most = 16 * 1024 * 1024
            let text = String(repeating: "a", count: most)
            async let sent: Void = peer.message(text)
            #expect(try await socket.receive()?.count == most)
            try await sent
            var header = ByteBuffer()
            header.writeBytes([0x81, 127])
            header.writeInteger(UInt64(most + 1))
            try await peer.channel.writeAndFlush(header).get()
            #expect(try await peer.step() == .close(CloseReason(.messageTooBig)))
            await #expect(throws: TransportFault.self) { try await socket.receive() }
        }
    }

    @Test func `fragments are joined, with pings answered between them`() async throws {
        try await withSocket { socket, peer in
            try await peer.send(.text, "be", isFinal: false)
            try await peer.send(.ping, "1")
            try await peer.send(.continuation, "tw", isFinal: false)
            #expect(try await peer.step() == .pong(ByteBuffer(string: "1")))
            try await peer.send(.continuation, "een")
            #expect(try await socket.receive() == Array("between".utf8))
        }
    }

    @Test func `pings are answered while nobody receives`() async throws {
        try await withSocket { socket, peer in
            for number in 0..<10 {
                try await peer.message("message \(number)")
                try await peer.send(.ping, "\(number)")
                #expect(try await peer.step() == .pong(ByteBuffer(string: "\(number)")))
            }
            for number in 0..<10 { #expect(try await socket.receive() == Array("message \(number)".utf8)) }
        }
    }

    @Test func `every frame has a mask of its own`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            async let opening = transport.connect(ClientRequest("GET", "/v1/socket", at: server.address))
            let peer = try await server.accept()
            let handshake = try ServerHandshake(try await peer.request(), subprotocols: ["backline.v1.json"])
            var response = ByteBuffer()
            handshake.writeResponse(into: &response)
            try await peer.channel.writeAndFlush(response).get()
            let socket = try await opening
            // Compared as bytes: as text, masks of invalid UTF-8 are equal.
            var masks: Set<ByteBuffer> = []
            for _ in 0..<4 {
                try await socket.send([])
                masks.insert(try await peer.raw(6))
            }
            #expect(masks.count == 4)
        }
    }

    // MARK: Closing

    @Test(arguments: [
        CloseReason(.normal), CloseReason(.serviceRestart),
        CloseReason(CloseCode(rawValue: 4_403) ?? .normal, "banned"),
        nil,
    ])
    func `the server's close ends the socket behind its messages`(reason: CloseReason?) async throws {
        let certificates = try Certificates.shared.get()
        try await withSocket(certificates) { socket, peer in
            try await peer.message("last")
            try await peer.close(reason)
            #expect(try await peer.step() == .close(reason.map { CloseReason($0.code) }))
            #expect(try await socket.receive() == Array("last".utf8))
            // Without waiting for the end of the connection.
            #expect(try await socket.receive() == nil)
            #expect(await socket.closing == reason?.code.rawValue)
            let fault = await #expect(throws: TransportFault.self) { try await socket.send([0x61]) }
            #expect(fault?.reason == "the socket is closed")
            peer.end()
            #expect(try await socket.receive() == nil)
            await socket.close(1_000)
            #expect(await socket.closing == reason?.code.rawValue)
        }
    }

    @Test func `the client's close is answered, and ends the socket`() async throws {
        let certificates = try Certificates.shared.get()
        var times = Times.patient
        times.close = .seconds(60)
        try await withSocket(certificates, times: times) { socket, peer in
            async let closed: Void = socket.close(1_001)
            #expect(try await peer.step() == .close(CloseReason(.goingAway)))
            try await peer.message("too late")
            #expect(try await socket.receive() == nil)
            try await peer.close(CloseReason(.goingAway))
            peer.end()
            await closed
            #expect(try await socket.receive() == nil)
            #expect(await socket.closing == nil)
        }
    }

    @Test func `a code that may not be sent is left out`() async throws {
        try await withSocket { socket, peer in
            async let closed: Void = socket.close(1_006)
            let step = try await peer.step()
            #expect(step == .close(nil))
            peer.end()
            await closed
        }
    }

    @Test(arguments: [false, true])
    func `a close that nobody answers takes its time and no longer`(isFlooding: Bool) async throws {
        let certificates = try Certificates.shared.get()
        var times = Times.patient
        times.close = .milliseconds(50)
        times.closeTLS = .milliseconds(50)
        try await withSocket(certificates, times: times) { socket, peer in
            let flood = Task {
                let text = String(repeating: "a", count: 10_000)
                while isFlooding, !Task.isCancelled, (try? await peer.message(text)) != nil {}
            }
            // What the server does not read must not hold the close up.
            await socket.close(1_001)
            // What came before the close may still be read, and nothing after it.
            while try await socket.receive() != nil {}
            flood.cancel()
            _ = await peer.ended()
        }
    }

    @Test func `a socket that is let go closes its connection`() async throws {
        try await LoopbackServer.run { server in
            let peer = try await Self.openAndLetGo(server)
            #expect(await peer.ended() == 0)
        }
    }

    private static func openAndLetGo(_ server: LoopbackServer) async throws -> Peer {
        let transport = try NIOTransport(trust: .system, times: .patient)
        async let opening = transport.connect(ClientRequest("GET", "/v1/socket", at: server.address))
        let peer = try await server.accept()
        try await peer.open()
        _ = try await opening
        return peer
    }

    // MARK: Loss and violations

    @Test(arguments: [false, true], [false, true])
    func `a lost connection throws, behind its messages`(isReset: Bool, isSecure: Bool) async throws {
        guard !(isReset && isSecure) else { return }
        let certificates = isSecure ? try Certificates.shared.get() : nil
        try await withSocket(certificates) { socket, peer in
            try await peer.message("last")
            #expect(try await socket.receive() == Array("last".utf8))
            if isReset { try await peer.reset() } else { peer.end() }
            for _ in 0..<2 {
                let fault = await #expect(throws: TransportFault.self) { try await socket.receive() }
                #expect(fault?.reason.hasSuffix(" was lost") == true && fault?.isLasting == false)
            }
            await #expect(throws: TransportFault.self) { try await socket.send([0x61]) }
            #expect(await socket.closing == nil)
            await socket.close(1_000)
        }
    }

    @Test func `a violation closes the socket with its code`() async throws {
        let mask = MaskKey(rawValue: 0x0102_0304)
        let violations: [(Opcode, String, MaskKey?, CloseCode)] = [
            (.binary, "a", nil, .unsupportedData), (.text, "a", mask, .protocolError),
            (.continuation, "a", nil, .protocolError),
        ]
        for (opcode, payload, mask, code) in violations {
            try await withSocket { socket, peer in
                try await peer.send(opcode, payload, mask: mask)
                #expect(try await peer.step() == .close(CloseReason(code)))
                peer.end()
                let fault = await #expect(throws: TransportFault.self) { try await socket.receive() }
                #expect(fault?.reason.contains(" sent ") == true)
                #expect(await socket.closing == nil)
            }
        }
        try await withSocket { socket, peer in
            try await peer.channel.writeAndFlush(ByteBuffer(bytes: [0x81, 1, 0xFF])).get()
            #expect(try await peer.step() == .close(CloseReason(.invalidPayload)))
            await #expect(throws: TransportFault.self) { try await socket.receive() }
        }
    }

    // MARK: Cancelling

    @Test func `a receive that is cancelled throws and loses no message`() async throws {
        try await withSocket { socket, peer in
            for number in 0..<20 {
                let task = Task { try await socket.receive() }
                if number.isMultiple(of: 2) { await Task.yield() }
                task.cancel()
                async let sent: Void = peer.message("\(number)")
                let received = await task.result
                try await sent
                switch received {
                case .success(let message): #expect(message == Array("\(number)".utf8))
                case .failure(let error):
                    #expect((error as? TransportFault)?.cause is CancellationError)
                    #expect(try await socket.receive() == Array("\(number)".utf8))
                }
            }
        }
    }

    @Test func `a send that the server does not take waits, and ends with its task or the socket`() async throws {
        var times = Times.patient
        times.close = .milliseconds(20)
        try await withSocket(times: times) { socket, peer in
            try await peer.channel.setOption(.autoRead, value: false).get()
            let text = [UInt8](repeating: 0x61, count: 16 * 1024 * 1024)
            let cancelled = Task { try await socket.send(text) }
            let waiting = Task { try await socket.send(text) }
            cancelled.cancel()
            let first = await #expect(throws: TransportFault.self) { try await cancelled.value }
            #expect(first?.cause is CancellationError)
            await socket.close(1_001)
            let second = await #expect(throws: TransportFault.self) { try await waiting.value }
            #expect(second?.reason == "the socket is closed")
        }
    }
}

/// Runs a test with an open socket and the server's end of it, and closes both.
func withSocket(
    _ certificates: Certificates? = nil, compressing: DeflatePolicy? = nil, times: Times = .patient,
    _ body: (any ClientSocket, Peer) async throws -> Void
) async throws {
    try await LoopbackServer.run(certificates) { server in
        let transport = try NIOTransport(trust: .insecure, times: times)
        async let opening = transport.connect(ClientRequest("GET", "/v1/socket", at: server.address))
        let peer = try await server.accept()
        try await peer.open(compressing: compressing)
        let socket = try await opening
        try await body(socket, peer)
        peer.end()
        await socket.close(1_000)
    }
}
