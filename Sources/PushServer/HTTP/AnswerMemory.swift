import Hummingbird
import RoomService
import RoomWire
import Synchronization

/// The memory of one HTTP answer, charged from the moment it is made until its last byte has been sent.
final class AnswerMemory: Sendable {
    private let waiting: WaitingBytes
    private let states: HeldStates
    private let network: UInt64?
    private let state = Mutex(State())

    private struct State {
        var charge: WaitingBytes.Charge?
        var hold: HeldStates.Hold?
        var shared = 0
    }

    /// Makes the memory for a request from an address (``PeerAddress/network``); nil if that is not known or stands for
    /// many peers.
    init(_ waiting: WaitingBytes, _ states: HeldStates, network: UInt64?) {
        self.waiting = waiting
        self.states = states
        self.network = network
    }

    /// Whether anything is charged.
    var isCharged: Bool { state.withLock { $0.charge != nil || $0.hold != nil } }

    /// Charges a room state in the body, or refuses with `rate_limited`.
    ///
    /// The state's bytes are shared by all who are given it, so they are charged once for all of them.
    func shares(_ shared: SharedState) throws(CommandFailure) {
        let bytes = shared.plain.readableBytes
        guard bytes < WaitingBytes.step || waiting.takes(WaitingBytes.step, of: network) else { throw Self.refusal }
        let hold = states.hold(shared, bytes: bytes, of: network)
        state.withLock { state in
            state.hold = hold
            state.shared = bytes
        }
    }

    /// Leaves this many bytes of the body uncharged: the process holds them as long as it runs, for all answers.
    func isPartOfProgram(_ bytes: Int) { state.withLock { $0.shared = bytes } }

    /// Refuses with `rate_limited` if this many bytes more could not wait; call before a long answer is computed.
    func expect(_ bytes: Int) throws(CommandFailure) {
        guard waiting.takes(bytes, of: network) else { throw Self.refusal }
    }

    /// Charges a body of this many bytes while it is kept, or refuses with `rate_limited`; nil if it is short.
    func charge(bodyOf bytes: Int) throws(CommandFailure) -> WaitingBytes.Charge? {
        guard bytes >= WaitingBytes.step else { return nil }
        guard let charge = waiting.charge(bytes, to: network) else { throw Self.refusal }
        return charge
    }

    /// Charges an answer, or refuses with `rate_limited`.
    func charge(_ response: Response) throws(CommandFailure) {
        let bytes = (response.body.contentLength ?? 0) - state.withLock { $0.shared }
        guard bytes >= WaitingBytes.step else { return }
        guard let charge = waiting.charge(bytes, to: network) else { throw Self.refusal }
        state.withLock { $0.charge = charge }
    }

    private static let refusal = CommandFailure(
        .rateLimited, "too many bytes wait to be sent", retryAfterMs: 1_000)
}
