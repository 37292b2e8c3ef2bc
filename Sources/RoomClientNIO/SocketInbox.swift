import NIOCore
import RoomClient
import Synchronization

/// The messages of one socket that have arrived and that nobody has taken yet.
final class SocketInbox: Sendable {
    /// How the socket ended.
    enum End: Sendable {
        /// With a close, and with this code if the server gave one.
        case closed(UInt16?)
        /// Without a close.
        case lost(TransportFault)
    }

    /// While so many bytes of messages wait, no more are taken in: 256 KiB.
    static let most = 262_144
    /// Reading goes on when no more than this is left: half of it, so that it does not stop and go with each message.
    private static let few = most / 2
    /// What a message costs besides its bytes.
    private static let overhead = 64

    private struct State {
        var messages = CircularBuffer<[UInt8]>()
        var bytes = 0
        var end: End?
        var isFull = false
        var reader: CheckedContinuation<Void, Never>?
    }

    /// What a receiver finds.
    enum Next: Sendable {
        /// A message; and whether there is room again, of which the handler must be told.
        case message([UInt8], makesRoom: Bool)
        /// No message will come any more.
        case end(End)
        /// A message may come later.
        case nothing
    }

    private let state = Mutex(State())

    /// The server's close code.
    var code: UInt16? {
        state.withLock { state in if case .closed(let code)? = state.end { code } else { nil } }
    }

    /// What the waiting messages cost, in bytes.
    var waitingBytes: Int { state.withLock { $0.bytes } }

    /// Whether the next message may be taken in; if not, a later ``take()`` says when.
    func hasRoom() -> Bool {
        state.withLock { state in
            // After the end, messages are dropped.
            if state.end == nil, state.bytes >= Self.most { state.isFull = true }
            return !state.isFull || state.end != nil
        }
    }

    /// Adds a message, unless the socket has ended.
    func push(_ message: [UInt8]) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            state.messages.append(message)
            state.bytes += message.count + Self.overhead
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Ends the socket, behind the messages that wait; further calls have no effect.
    func end(_ end: End) {
        let reader = state.withLock { state in
            state.end = state.end ?? end
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Waits for the next message, nil at the end; and tells whether there is room again.
    func next() async throws(TransportFault) -> (message: [UInt8]?, makesRoom: Bool) {
        while true {
            switch take() {
            case .message(let message, let makesRoom): return (message, makesRoom)
            case .end(.closed): return (nil, false)
            case .end(.lost(let fault)): throw fault
            case .nothing:
                if Task.isCancelled { throw TransportFault.cancelled }
                await wait()
            }
        }
    }

    /// Takes the next message.
    func take() -> Next {
        state.withLock { state in
            guard let message = state.messages.popFirst() else { return state.end.map { .end($0) } ?? .nothing }
            state.bytes -= message.count + Self.overhead
            let makesRoom = state.isFull && state.bytes <= Self.few
            if makesRoom { state.isFull = false }
            return .message(message, makesRoom: makesRoom)
        }
    }

    /// Returns when there may be something, or when the task is cancelled.
    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.messages.isEmpty, state.end == nil, !Task.isCancelled else { return true }
                    precondition(state.reader == nil, "one caller of receive() at a time")
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume()
        }
    }
}
