import NIOCore
import RoomClient
import Synchronization
import WebSocketCodec

/// One open WebSocket on a channel.
final class NIOSocket: ClientSocket {
    private let channel: any Channel
    private let inbox: SocketInbox

    init(_ channel: any Channel, _ inbox: SocketInbox) {
        self.channel = channel
        self.inbox = inbox
    }

    deinit { channel.close(promise: nil) }

    func receive() async throws(TransportFault) -> [UInt8]? {
        let (message, wasFull) = try await inbox.next()
        if wasFull { channel.write(SocketHandler.Outgoing.taken, promise: nil) }
        return message
    }

    func send(_ text: [UInt8]) async throws(TransportFault) {
        do {
            try await channel.writeAndFlush(SocketHandler.Outgoing.text(text)).get()
        } catch {
            throw TransportFault("the connection was lost", cause: error)
        }
    }

    func close(_ code: UInt16) async {
        let reason = CloseCode(rawValue: code).map { CloseReason($0) }
        channel.writeAndFlush(SocketHandler.Outgoing.close(reason), promise: nil)
        try? await channel.closeFuture.get()
    }

    var closing: UInt16? { inbox.code }
}

/// The messages of one socket that nobody has taken yet.
final class SocketInbox: Sendable {
    /// How the socket ended.
    enum End: Sendable {
        /// With this code of the server, if it gave one.
        case closed(UInt16?)
        /// Without a close.
        case lost(TransportFault)
    }

    /// Less than so many bytes: more is read.
    private static let enough = 262_144

    private struct State {
        var messages: [[UInt8]] = []
        var bytes = 0
        var end: End?
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Whether more may be read.
    var hasRoom: Bool { state.withLock { $0.bytes < Self.enough } }

    /// The server's close code.
    var code: UInt16? {
        state.withLock { state in if case .closed(let code)? = state.end { code } else { nil } }
    }

    func push(_ message: [UInt8]) {
        let reader = state.withLock { state in
            state.messages.append(message)
            // A message costs more than its bytes.
            state.bytes += message.count + 64
            return state.reader.take()
        }
        reader?.resume()
    }

    func end(_ end: End) {
        let reader = state.withLock { state in
            state.end = state.end ?? end
            return state.reader.take()
        }
        reader?.resume()
    }

    /// The next message, nil at the end; and whether nothing was read because too much waited.
    func next() async throws(TransportFault) -> (message: [UInt8]?, wasFull: Bool) {
        while true {
            let (message, wasFull, end) = state.withLock { state -> ([UInt8]?, Bool, End?) in
                guard !state.messages.isEmpty else { return (nil, false, state.end) }
                let wasFull = state.bytes >= Self.enough
                let message = state.messages.removeFirst()
                state.bytes -= message.count + 64
                return (message, wasFull && state.bytes < Self.enough, nil)
            }
            if let message { return (message, wasFull) }
            switch end {
            case .closed: return (nil, false)
            case .lost(let fault): throw fault
            case nil: await wait()
            }
        }
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.messages.isEmpty, state.end == nil else { return true }
                state.reader = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
