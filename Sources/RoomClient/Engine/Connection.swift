import RoomReplica
import RoomWire
import Synchronization

/// One attempt to connect, and the socket that comes of it.
final class Connection: Sendable {
    private struct State {
        var code: UInt16?
        var socket: (any ClientSocket)?
    }

    let attempt: Int
    private let path: SocketPath
    private let outgoing: (stream: AsyncStream<[UInt8]>, continuation: AsyncStream<[UInt8]>.Continuation)
    private let opening = CancellableChild()
    private let closing = Bell()
    private let state = Mutex(State())

    init(attempt: Int, path: SocketPath) {
        self.attempt = attempt
        self.path = path
        outgoing = AsyncStream.makeStream()
    }

    /// Sends a message behind those before it.
    func send(_ text: [UInt8]) { outgoing.continuation.yield(text) }

    /// Ends the attempt, or closes its socket.
    func close(_ code: UInt16) {
        state.withLock { $0.code = $0.code ?? code }
        outgoing.continuation.finish()
        opening.cancel()
        closing.ring()
    }

    /// Waits, connects, and reads until the socket closes.
    func run(after wait: Duration, for engine: ClientEngine) async {
        await withTaskCancellationHandler {
            await opening.run { await self.open(after: wait, for: engine) }
            guard let socket = state.withLock({ $0.socket }) else { return }
            await use(socket, for: engine)
        } onCancel: {
            close(1_001)
        }
    }

    private func open(after wait: Duration, for engine: ClientEngine) async {
        guard (try? await engine.clock.sleep(until: engine.clock.uptime + wait)) != nil else { return }
        do throws(ClientError) {
            var request = ClientRequest("GET", path.target, at: engine.server)
            request.fields["authorization"] = "Bearer \(try await engine.session.currentToken())"
            let socket: any ClientSocket
            do throws(TransportFault) {
                socket = try await engine.transport.connect(request)
            } catch {
                return failed(ClientError(error), isAnswered: error.response != nil, for: engine)
            }
            let isWanted = state.withLock { state in
                if state.code == nil { state.socket = socket }
                return state.code == nil
            }
            if !isWanted { await Task { await socket.close(1_001) }.value }
        } catch {
            // There is no token. Other answers say nothing about the room.
            failed(error, isAnswered: [.unauthorized, .rateLimited].contains(error.code), for: engine)
        }
    }

    private func failed(_ error: ClientError, isAnswered: Bool, for engine: ClientEngine) {
        guard state.withLock({ $0.code == nil }) else { return }
        engine.state.withLock { $0.link.fault = error }
        let refusal = isAnswered ? Refusal(error) : nil
        engine.input { $0.failed(self.attempt, refusal, at: $1) }
    }

    private func use(_ socket: any ClientSocket, for engine: ClientEngine) async {
        engine.state.withLock { $0.link.fault = nil }
        engine.input { $0.opened(self.attempt, at: $1) }
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await text in self.outgoing.stream {
                    guard (try? await socket.send(text)) != nil else { return }
                }
            }
            group.addTask {
                // Cancelled with the client, and once the socket has closed by itself.
                _ = await self.closing.wait()
                guard let code = self.state.withLock({ $0.code }) else { return }
                await Task { await socket.close(code) }.value
            }
            do throws(TransportFault) {
                while let text = try await socket.receive() {
                    // While the main actor stands still, messages wait at the server, which bounds them.
                    if engine.isBehind { await engine.deliver() }
                    // Read here, because it takes long for a large room.
                    let message = try? ServerMessage.Received.parse(text)
                    engine.input { $0.received(message, on: self.attempt, at: $1) }
                }
            } catch {
                engine.state.withLock { $0.link.fault = ClientError(error) }
            }
            outgoing.continuation.finish()
            if state.withLock({ $0.code == nil }) { group.cancelAll() }
        }
        let code = await socket.closing
        engine.input { $0.closed(self.attempt, code: code, at: $1) }
    }
}

/// The connection as the engine has it.
struct ClientLink {
    var connection: Connection?
    var timer: CancellableChild?
    /// Why there is no connection; nil while there is one, and before the first attempt has failed.
    var fault: ClientError?
    /// The newest failure of the store.
    var storeFault: ClientError?
}

extension SocketPath {
    /// The target of the handshake.
    var target: String {
        switch self {
        case .any: "/v1/socket"
        case .room(let room, nil): "/v1/rooms/\(room.text)/socket"
        case .room(let room, let position?):
            "/v1/rooms/\(room.text)/socket?epoch=\(Self.encoded(position.epoch))&seq=\(position.seq)"
        }
    }

    /// Percent-encodes all but letters, digits and `-._~` (RFC 3986 §2.3).
    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                encoded.append(character)
            } else {
                encoded += byte < 0x10 ? "%0" : "%"
                encoded += String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}

extension Refusal {
    init(_ error: ClientError) {
        self.init(
            ErrorName(text: error.code.rawValue), error.message,
            retryAfterMs: error.retryAfter.map { Int($0.wholeMilliseconds) }, reason: error.reason)
    }
}
