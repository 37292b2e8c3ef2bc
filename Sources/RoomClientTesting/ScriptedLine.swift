import RoomClient
import Synchronization

/// What a server has sent on one connection, and its end.
final class ScriptedLine: Sendable {
    private struct State {
        var waiting: [[UInt8]] = []
        var end: End?
        var reader: CheckedContinuation<Void, Never>?
    }

    enum End: Sendable, Equatable {
        /// The server has closed it.
        case closed(UInt16)
        /// The client has closed it.
        case left
        /// The network has lost it.
        case lost
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.end == nil } }

    var closing: UInt16? {
        state.withLock { state in
            guard case .closed(let code)? = state.end, state.waiting.isEmpty else { return nil }
            return code
        }
    }

    func push(_ text: [UInt8]) { change { $0.waiting.append(text) } }

    func end(_ end: End) {
        change { state in
            state.end = state.end ?? end
            // A client that has closed reads no more.
            if end == .left { state.waiting = [] }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let reader = state.withLock { state in
            body(&state)
            return state.reader.take()
        }
        reader?.resume()
    }

    /// The next message; nil once the connection is closed and all messages were taken.
    func next() async throws(TransportFault) -> [UInt8]? {
        while true {
            let (text, end) = state.withLock { state in
                (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.end)
            }
            if let text { return text }
            if end == .lost { throw TransportFault("the connection was lost") }
            if end != nil || Task.isCancelled { return nil }
            await news()
        }
    }

    private func news() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    guard state.waiting.isEmpty, state.end == nil, !Task.isCancelled else { return true }
                    precondition(state.reader == nil, "two tasks read from one socket")
                    state.reader = continuation
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume()
        }
    }
}
