import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import TLSTransport

/// Compatibility with other implementations: Python's `ssl` and the `openssl` program.
@Suite struct PeerTests {
    @Test(arguments: ["TLSv1_2", "TLSv1_3"], ["http/1.1", "h2,http/1.1", "none"])
    func `a Python client speaks with our server`(version: String, offer: String) async throws {
        try await withEcho { port, authority in
            let printed = try python(Self.client, "\(port)", authority, version, offer)
            let agreed = offer == "none" ? "none" : "http/1.1"
            let ours = version == "TLSv1_2" ? "tls12" : "tls13"
            #expect(printed == "\(ours) \(agreed) full\nFalse\necho ok\n\(ours) \(agreed) resumed\nTrue\necho ok\n")
        }
    }

    @Test(arguments: ["TLSv1_2", "TLSv1_3"])
    func `an offer without http 1.1 is refused with no_application_protocol`(version: String) async throws {
        try await withEcho { port, authority in
            let printed = try python(Self.client, "\(port)", authority, version, "h2,spdy/3")
            #expect(printed.contains("alert no application protocol"))
        }
    }

    @Test func `TLS 1_1 is refused`() async throws {
        try await withEcho { port, _ in
            let printed = try run(
                "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0")
            #expect(printed.contains("alert protocol version"))
        }
    }

    @Test(arguments: ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES128-SHA256"])
    func `TLS 1_2 without an ephemeral key or an AEAD cipher is refused`(cipher: String) async throws {
        try await withEcho { port, _ in
            let printed = try run(
                "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-tls1_2", "-cipher", "\(cipher):@SECLEVEL=0")
            #expect(printed.contains("alert handshake failure"))
        }
    }

    @Test func `a client that asks for compression gets none`() async throws {
        try await withEcho { port, _ in
            let printed = try run("openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-tls1_2", "-comp")
            #expect(printed.contains("Cipher is ECDHE-ECDSA-AES") && printed.contains("Compression: NONE"))
            #expect(printed.contains("Secure Renegotiation IS supported"))
        }
    }

    @Test func `a client that asks to renegotiate is refused`() async throws {
        try await withEcho { port, _ in
            let printed = try python(
                Self.dialogue, "\(port)", "-tls1_2", "", "tls12 none full", "R", "no renegotiation")
            #expect(printed.hasSuffix("done\n"))
        }
    }

    @Test func `key updates of either side are followed`() async throws {
        try await withEcho { port, _ in
            let printed = try python(
                Self.dialogue, "\(port)", "-tls1_3", "", "tls13 none full", "one", "one", "k", "KEYUPDATE", "two",
                "two",
                "K", "KEYUPDATE", "three", "three")
            #expect(printed.hasSuffix("done\n"))
        }
    }

    @Test func `a client that asks for key updates and does not read them is dropped`() async throws {
        try await Loopback.run(loops: 1) { loopback in
            let closed = loopback.promise(of: [TLSFault].self)
            let listener = try await loopback.listen { channel, _ in
                try channel.syncOptions?.setOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
                // The handshake takes two flushes and the greeting one; later bytes are held.
                try channel.pipeline.syncOperations.addHandler(FlushStopper(after: 3), position: .first)
                try channel.pipeline.syncOperations.addHandler(EchoHandler(greets: true, closed: closed))
            }
            // A reply is a record of 5 + 5 + 17 bytes: the 607th exceeds the limit of 16 KiB.
            _ = try python(Self.keyUpdates, "\(listener.port)", "60")
            #expect(try await closed.futureResult.get() == [.unreadReplies])
        }
    }

    @Test func `a Python client that says close_notify gets ours, one that vanishes is a truncation`() async throws {
        for (way, expected) in [("unwrap", [TLSFault]()), ("vanish", [.truncated])] {
            try await Loopback.run(loops: 1) { loopback in
                let closed = loopback.promise(of: [TLSFault].self)
                let listener = try await loopback.listen { channel, _ in
                    try channel.pipeline.syncOperations.addHandler(EchoHandler(closed: closed))
                }
                let printed = try python(Self.closingClient, "\(listener.port)", way)
                #expect(printed == way + "ed\n")
                #expect(try await closed.futureResult.get() == expected)
            }
        }
    }

    @Test(arguments: ["TLSv1_2", "TLSv1_3"], ["unwrap", "vanish"])
    func `our client speaks with a Python server`(version: String, ending: String) async throws {
        let certificate = try Identity.shared.get().certificate
        let server = try PeerServer(
            ["python3", "-c", Self.server, certificate.certificatePath, certificate.keyPath, version, ending])
        let context = try TLSContext(clientVerifying: .certificateAuthority(path: certificate.certificatePath))
        try await Loopback.run(loops: 1) { loopback in
            let closed = loopback.promise(of: PeerRecorder.Result.self)
            _ = try await loopback.connect(port: server.port, context: context, serverName: "localhost") { channel, _ in
                try channel.pipeline.syncOperations.addHandler(PeerRecorder(closed))
            }
            let result = try await closed.futureResult.get()
            #expect(
                result.event
                    == TLSHandshakeCompleted(
                        applicationProtocol: "http/1.1", version: version == "TLSv1_2" ? .tls12 : .tls13, resumed: false
                    ))
            // The server saw the requested name, and sent back our bytes.
            #expect(result.text == "localhost 200000 bytes")
            #expect(result.faults == (ending == "unwrap" ? [] : [.truncated]))
        }
        #expect(server.finish() == 0)
    }

    @Test func `bytes written while the peer is halfway through a handshake message go out after it`() async throws {
        // A certificate that fits into one record.
        let directory = try TemporaryDirectory()
        let (certificate, key) = (directory.path + "/short.pem", directory.path + "/short-key.pem")
        _ = try run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=a",
            "-keyout", key, "-out", certificate)
        let pem = try String(contentsOfFile: certificate, encoding: .utf8)
        let fingerprint = X509Certificate(pem: Array(pem.utf8))?.fingerprint
        let context = try TLSContext(clientVerifying: .fingerprint(try #require(fingerprint)))
        // A session ticket that holds a name of 253 characters does not fit into one record of 512 bytes.
        let name = Array(repeating: String(repeating: "a", count: 62), count: 4).joined(separator: ".") + ".a"
        let files = ["-cert", certificate, "-key", key]
        let server = try PeerServer(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-rev", "-max_send_frag", "512"]
                + files + ["-cert2", certificate, "-key2", key, "-servername", name]
                + ["-ciphersuites", "TLS_AES_256_GCM_SHA384", "-context", String(repeating: "0", count: 32)]
                + ["-num_tickets", "1", "-alpn", "http/1.1"],
            portAfter: "ACCEPT 127.0.0.1:")
        try await Loopback.run(loops: 1) { loopback in
            let held = loopback.promise(of: Int.self)
            let answered = loopback.promise(of: String.self)
            let client = try await loopback.connect(port: server.port, context: context, serverName: name) {
                channel, tls in
                var gate: Gate?
                gate = Gate(recordLength: 512 + 17) { [weak channel] context in
                    channel?.write(ByteBuffer(string: "hello "), promise: nil)
                    tls.send(ByteBuffer(string: "world\n"))
                    held.succeed(tls.unsentByteCount)
                    context.eventLoop.assumeIsolated().execute { gate.take()?.open(context) }
                }
                try channel.pipeline.syncOperations.addHandler(gate ?? Gate(recordLength: 0) { _ in }, position: .first)
                try channel.pipeline.syncOperations.addHandler(LineReader(answered))
            }
            #expect(try await held.futureResult.get() == 12)
            #expect(try await answered.futureResult.get() == "dlrow olleh\n")
            try await client.close()
        }
        _ = server.finish()
    }

    // MARK: Peers

    private func withEcho(_ body: (_ port: Int, _ authority: String) throws -> Void) async throws {
        let authority = try Identity.shared.get().certificate.certificatePath
        try await Loopback.run(loops: 1) { loopback in
            let listener = try await loopback.listen { channel, _ in
                try channel.pipeline.syncOperations.addHandler(EchoHandler(greets: true))
            }
            try body(listener.port, authority)
        }
    }

    private func python(_ arguments: String...) throws -> String {
        try run(["python3", "-c"] + arguments)
    }

    /// Arguments: port, authority, version, ALPN offer; connects twice, the second time with the first's session.
    private static let client = """
        import socket, ssl, sys
        port, authority, version, offer = sys.argv[1:]
        context = ssl.create_default_context(cafile=authority)
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
        if offer != "none":
            context.set_alpn_protocols(offer.split(","))
        session = None
        for attempt in range(2):
            try:
                tls = context.wrap_socket(socket.create_connection(("127.0.0.1", int(port))),
                                          server_hostname="localhost", session=session)
            except ssl.SSLError as error:
                print(error)
                break
            stream = tls.makefile("rwb")
            print(stream.readline().decode(), end="")
            print(tls.session_reused)
            words = b"".join(b"%d " % n for n in range(60000))
            for start in range(0, len(words), 50000):
                stream.write(words[start:start + 50000])
                stream.flush()
                assert stream.read(len(words[start:start + 50000])) == words[start:start + 50000]
            print("echo ok")
            session = tls.session
            tls.unwrap().close()
        """

    /// Arguments: port, way of ending.
    private static let closingClient = """
        import socket, ssl, sys
        context = ssl._create_unverified_context()
        tls = context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
        tls.sendall(b"x")
        assert tls.recv(1) == b"x"
        if sys.argv[2] == "unwrap":
            assert tls.unwrap().recv(1) == b""
            print("unwraped")
        else:
            print("vanished")
        """

    /// Arguments: port, version, then pairs of a line to type into `openssl s_client` and its expected output.
    private static let dialogue = """
        import subprocess, sys
        port, version, *steps = sys.argv[1:]
        peer = subprocess.Popen(["openssl", "s_client", "-connect", "127.0.0.1:" + port, version],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line, answer in zip(steps[::2], steps[1::2]):
            if line:
                peer.stdin.write(line.encode() + b"\\n")
                peer.stdin.flush()
            seen = b""
            while answer.encode() not in seen:
                byte = peer.stdout.read1(1)
                if not byte:
                    sys.exit(seen.decode())
                seen += byte
        peer.stdin.close()
        peer.stdout.read()
        peer.wait()
        print("done")
        """

    /// Arguments: port, the most seconds to try; commands of `openssl s_client` are lines, which a terminal delivers
    /// one at a time; it loses some if they are written faster than they are read.
    private static let keyUpdates = """
        import os, pty, select, subprocess, sys, termios, time
        terminal, stdin = pty.openpty()
        mode = termios.tcgetattr(stdin)
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(stdin, termios.TCSANOW, mode)
        os.set_blocking(terminal, False)
        peer = subprocess.Popen(["openssl", "s_client", "-connect", "127.0.0.1:" + sys.argv[1], "-tls1_3"],
                                stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in peer.stdout:
            if b"tls13" in line:
                break
        end = time.monotonic() + float(sys.argv[2])
        while peer.poll() is None and time.monotonic() < end:
            try:
                if select.select([], [terminal], [], 0.1)[1]:
                    os.write(terminal, b"K\\nx\\n")
            except OSError:
                pass
        peer.kill()
        peer.wait()
        """

    /// Arguments: certificate, key, version, way of ending; serves one connection.
    private static let server = """
        import socket, ssl, sys
        certificate, key, version, ending = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
        context.set_alpn_protocols(["h2", "http/1.1"])
        names = []
        context.sni_callback = lambda connection, name, context: names.append(name)
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        tls = context.wrap_socket(listener.accept()[0], server_side=True)
        count = 0
        while count < 200000:
            count += len(tls.recv(65536))
        tls.sendall(b"%s %d bytes" % (names[0].encode(), count))
        if ending == "unwrap":
            tls.unwrap()
        else:
            tls.close()
        """
}

/// A program that prints the port it listens on, at the end of a line, and serves one connection.
private final class PeerServer {
    let port: Int
    private let process: Process

    /// `prefix` is the text before the port; lines that do not begin with it are skipped.
    init(_ arguments: [String], portAfter prefix: String = "") throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var line = ""
        var port: Int?
        while port == nil, let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte != UInt8(ascii: "\n") {
                line.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                if line.hasPrefix(prefix) { port = Int(line.dropFirst(prefix.count)) }
                line = ""
            }
        }
        self.port = try #require(port)
    }

    func finish() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}

/// Holds the server's bytes after the first record of a given length, and reports it.
private final class Gate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let length: Int
    private let onHold: (ChannelHandlerContext) -> Void
    private var received = ByteBuffer()
    private var isHolding = false

    init(recordLength: Int, onHold: @escaping (ChannelHandlerContext) -> Void) {
        length = recordLength
        self.onHold = onHold
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var more = unwrapInboundIn(data)
        received.writeBuffer(&more)
        // RFC 8446 §5.1: a type, two bytes of version, a length.
        while !isHolding, let record = received.getInteger(at: received.readerIndex + 3, as: UInt16.self).map(Int.init),
            let whole = received.readSlice(length: 5 + record)
        {
            context.fireChannelRead(NIOAny(whole))
            if record == length {
                isHolding = true
                onHold(context)
            }
        }
    }

    func open(_ context: ChannelHandlerContext) {
        isHolding = false
        context.fireChannelRead(NIOAny(received))
        received.clear()
    }
}

/// Sends 200,000 bytes when the handshake is done, and reports the received bytes when the channel has closed.
private final class PeerRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Result: Sendable {
        var event: TLSHandshakeCompleted?
        var text = ""
        var faults: [TLSFault] = []
    }

    private var result = Result()
    private let closed: EventLoopPromise<Result>

    init(_ closed: EventLoopPromise<Result>) {
        self.closed = closed
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? TLSHandshakeCompleted else { return }
        result.event = event
        context.writeAndFlush(NIOAny(ByteBuffer(repeating: 1, count: 200_000)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        result.text += String(buffer: unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let fault = error as? TLSFault { result.faults.append(fault) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        closed.succeed(result)
    }
}

/// Reads one line.
private final class LineReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var line = ""
    private let done: EventLoopPromise<String>

    init(_ done: EventLoopPromise<String>) {
        self.done = done
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        line += String(buffer: unwrapInboundIn(data))
        if line.hasSuffix("\n") { done.succeed(line) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(ChannelError.eof)
    }
}

/// Passes a number of flushes to the transport, and drops the rest.
private final class FlushStopper: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private var left: Int

    init(after count: Int) {
        left = count
    }

    func flush(context: ChannelHandlerContext) {
        guard left > 0 else { return }
        left -= 1
        context.flush()
    }
}
