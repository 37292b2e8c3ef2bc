import RoomClient
import Synchronization

/// A socket that lags, and is lost at a message of its plan.
final class FlakySocket: ClientSocket {
    private struct State {
        var incoming: Plan
        var outgoing: Plan
        var received = 0
        var sent = 0
        var isLost = false
    }

    private let inner: any ClientSocket
    private let transport: FlakyTransport
    private let state: Mutex<State>

    init(_ inner: any ClientSocket, of transport: FlakyTransport, incoming: Plan, outgoing: Plan) {
        self.inner = inner
        self.transport = transport
        state = Mutex(State(incoming: incoming, outgoing: outgoing))
    }

    private var isLost: Bool { state.withLock { $0.isLost } }

    private var loss: TransportFault { transport.fault("the connection was lost") }

    func receive() async throws(TransportFault) -> [UInt8]? {
        guard !isLost else { throw loss }
        let text = try await inner.receive()
        // While it was waited for, a message of the other direction may have been the last.
        guard !isLost else { throw loss }
        guard let text else { return nil }
        let (delay, isLast, arrives) = state.withLock { state in
            state.received += 1
            return (state.incoming.delay(), state.received == state.incoming.life, state.incoming.lastArrives)
        }
        await transport.delay(delay)
        guard isLast, !transport.isCalm else { return text }
        await lose()
        if arrives { return text }
        throw loss
    }

    func send(_ text: [UInt8]) async throws(TransportFault) {
        guard !isLost else { throw loss }
        let (delay, isLast, arrives) = state.withLock { state in
            state.sent += 1
            return (state.outgoing.delay(), state.sent == state.outgoing.life, state.outgoing.lastArrives)
        }
        await transport.delay(delay)
        guard isLast, !transport.isCalm else { return try await inner.send(text) }
        if arrives { try? await inner.send(text) }
        await lose()
        throw loss
    }

    private func lose() async {
        let isFirst = state.withLock { state in
            defer { state.isLost = true }
            return !state.isLost
        }
        guard isFirst else { return }
        transport.count(\.losses)
        await inner.close(1_001)
    }

    func close(_ code: UInt16) async { await inner.close(code) }

    var closing: UInt16? {
        get async { isLost ? nil : await inner.closing }
    }
}
