import Foundation
import NIOCore
import NIOPosix
import RoomClient
import TLSTransport
import Testing
import WebSocketCodec

@testable import RoomClientNIO

/// No socket stays open; in processes of their own, where nobody else opens anything.
///
/// One after the other, because each of these tests occupies a thread while its process runs.
@Suite(.serialized) struct OpenSocketTests {
    @Test func `a thousand sockets and requests leave no socket open`() async {
        await #expect(processExitsWith: .success) {
            let certificates = try Certificates()
            try await LoopbackServer.run(certificates) { server in
                let transport = try NIOTransport(
                    trust: .systemAnd(file: certificates.certificate.authorityPath), times: .patient)
                let before = try openSockets()
                for number in 0..<1_000 { try await use(transport, server, number) }
                try await untilOpen(before)
            }
        }
    }

    @Test func `attempts that are cancelled or fail leave no socket open`() async {
        await #expect(processExitsWith: .success) {
            let certificates = try Certificates()
            try await LoopbackServer.run(certificates) { server in
                let transport = try NIOTransport(trust: .system, times: .patient)
                let request = ClientRequest("GET", "/v1/socket", at: server.address)
                let before = try openSockets()
                for round in 0..<300 {
                    let task = Task { try await transport.connect(request) }
                    // At once, some steps later, or not at all: then the certificate is refused.
                    for _ in 0..<round % 30 { await Task.yield() }
                    if round % 3 > 0 { task.cancel() }
                    try await #require(throws: TransportFault.self) { try await task.value }
                }
                try await settle(server)
                try await untilOpen(before)
            }
        }
    }

    @Test func `a socket that opens while its task is cancelled is closed`() async {
        await #expect(processExitsWith: .success) {
            try await LoopbackServer.run(try Certificates()) { server in
                let transport = try NIOTransport(trust: .insecure, times: .patient)
                let request = ClientRequest("GET", "/v1/socket", at: server.address)
                let before = try openSockets()
                let serving = Task {
                    while let peer = try? await server.accept(), !Task.isCancelled { _ = try? await peer.open() }
                }
                let began = ContinuousClock.now
                _ = try await transport.connect(request)
                let long = ContinuousClock.now - began
                for round in 0..<400 {
                    let task = Task { try await transport.connect(request) }
                    try await Task.sleep(for: long * round / 300)
                    task.cancel()
                    _ = await task.result
                }
                try await untilOpen(before)
                serving.cancel()
                await serving.value
            }
        }
    }

    @Test func `a server that does not take the connection is given up, in time and with the task`() async {
        await #expect(processExitsWith: .success) {
            // Nothing is accepted here, so that connections wait once two have filled the queue.
            let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.autoRead, value: false)
                .serverChannelOption(.backlog, value: 1)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(listener.localAddress?.port)
            let server = try #require(ServerAddress("http://127.0.0.1:\(port)"))
            let filling = try NIOTransport(trust: .system, times: .patient)
            let fillers = (0..<3).map { _ in
                Task { try await filling.send(ClientRequest("GET", "/", at: server)) }
            }
            var times = Times.patient
            times.connect = .milliseconds(200)
            let transport = try NIOTransport(trust: .system, times: times)
            // It is made while connections are; only a full queue lets the time run out.
            while true {
                let fault = await fault(of: transport, server)
                if fault?.reason == "127.0.0.1:\(port) does not answer" { break }
            }
            let before = try openSockets()
            let task = Task { try await filling.connect(ClientRequest("GET", "/v1/socket", at: server)) }
            while try openSockets() == before { await Task.yield() }
            task.cancel()
            let fault = try await #require(throws: TransportFault.self) { try await task.value }
            try #require(fault.cause is CancellationError)
            try await untilOpen(before)
            for filler in fillers { filler.cancel() }
            try await listener.close()
        }
    }
}

/// A fault of a request that ends soon.
private func fault(of transport: NIOTransport, _ server: ServerAddress) async -> TransportFault? {
    let request = Task { try await transport.send(ClientRequest("GET", "/", at: server)) }
    let timer = Task {
        try await Task.sleep(for: .milliseconds(600))
        request.cancel()
    }
    defer { timer.cancel() }
    do {
        _ = try await request.value
        return nil
    } catch {
        return error as? TransportFault
    }
}

/// One socket, or one request, from its beginning to its end at both sides.
private func use(_ transport: NIOTransport, _ server: LoopbackServer, _ number: Int) async throws {
    if number.isMultiple(of: 10) {
        async let response = transport.send(ClientRequest("POST", "/", at: server.address))
        let peer = try await server.accept()
        _ = try await peer.request()
        try await peer.send("HTTP/1.1 204 No Content\nconnection: close\n\n")
        _ = try await response
        _ = await peer.ended()
        return
    }
    async let opening = transport.connect(ClientRequest("GET", "/v1/socket", at: server.address))
    let peer = try await server.accept()
    try await peer.open()
    let socket = try await opening
    async let closed: Void = socket.close(1_000)
    _ = try await peer.step()
    try await peer.close(nil)
    peer.end()
    await closed
    _ = await peer.ended()
}

/// Waits until the server has seen the end of all connections so far, and one more begin after them.
private func settle(_ server: LoopbackServer) async throws {
    let transport = try NIOTransport(trust: .insecure, times: .patient)
    let last = Task { try await transport.send(ClientRequest("POST", "/last", at: server.address)) }
    while true {
        let peer = try await server.accept()
        if (try? await peer.request())?.target == "/last" {
            try await peer.send("HTTP/1.1 204 No Content\nconnection: close\n\n")
            _ = try await last.value
            _ = await peer.ended()
            return
        }
        _ = await peer.ended()
    }
}

/// Waits until no more than `count` sockets are open: one end of a connection closes after the other.
private func untilOpen(_ count: Int) async throws {
    let end = ContinuousClock.now + .seconds(240)
    while try openSockets() > count {
        try #require(ContinuousClock.now < end)
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// The sockets of this process.
///
/// Other descriptors do not count: the runtime opens some of its own when it first needs them.
private func openSockets() throws -> Int {
    let directory = "/proc/self/fd/"
    let manager = FileManager.default
    return try manager.contentsOfDirectory(atPath: directory).count { name in
        (try? manager.destinationOfSymbolicLink(atPath: directory + name))?.hasPrefix("socket:") == true
    }
}
