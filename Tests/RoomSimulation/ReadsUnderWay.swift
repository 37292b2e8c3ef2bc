import RoomDomain
import RoomService
import Synchronization

/// The reads of logs that sessions have under way: a server refuses more reads of a session with many waiting.
final class ReadsUnderWay: Sendable {
    private struct Key: Hashable {
        var session: SessionID
        var node: ObjectIdentifier
    }

    private let counts = Mutex<[Key: Int]>([:])

    func begin(for session: SessionID, on node: SimulatedNode) {
        counts.withLock { $0[Key(session: session, node: ObjectIdentifier(node)), default: 0] += 1 }
    }

    func end(for session: SessionID, on node: SimulatedNode) {
        counts.withLock { $0[Key(session: session, node: ObjectIdentifier(node)), default: 0] -= 1 }
    }

    /// Whether a failure says that a session has too many reads waiting, and this is true.
    ///
    /// The read that failed counts as under way.
    func areTooMany(for session: SessionID, on node: SimulatedNode, as failure: RoomFailure) -> Bool {
        guard case .refused(.rateLimited) = failure else { return false }
        let others = counts.withLock { $0[Key(session: session, node: ObjectIdentifier(node)), default: 0] } - 1
        return others >= HeavyWork.Limits().waitingPerSession
    }
}
