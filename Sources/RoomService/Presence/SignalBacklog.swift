package import RoomDomain
import Synchronization

/// Bytes of signals that are on their way to each session's connections to this server.
///
/// A signal is charged until each connection that it is for has handed it to its transport, or is gone; so no connection
/// has more of them waiting than is charged to its session.
package final class SignalBacklog: Sendable {
    /// One signal on its way; it is charged no more once this is gone.
    package final class Charge: Sendable {
        private let backlog: SignalBacklog
        private let session: SessionID
        private let bytes: Int

        fileprivate init(_ backlog: SignalBacklog, session: SessionID, bytes: Int) {
            self.backlog = backlog
            self.session = session
            self.bytes = bytes
        }

        deinit {
            backlog.release(bytes, of: session)
        }
    }

    private let maximum: Int
    private let waiting = Mutex<[SessionID: Int]>([:])

    /// Lets `maximum` bytes be on their way to one session; one signal may always be.
    package init(maximum: Int) {
        self.maximum = maximum
    }

    /// Charges a signal of `bytes` to the session it is for; nil where too much is on its way already.
    package func charge(_ bytes: Int, to session: SessionID) -> Charge? {
        let fits = waiting.withLock { waiting in
            let before = waiting[session] ?? 0
            guard before == 0 || before + bytes <= maximum else { return false }
            waiting[session] = before + bytes
            return true
        }
        return fits ? Charge(self, session: session, bytes: bytes) : nil
    }

    /// How many bytes are on their way to a session.
    package func count(of session: SessionID) -> Int { waiting.withLock { $0[session] ?? 0 } }

    private func release(_ bytes: Int, of session: SessionID) {
        waiting.withLock { waiting in
            let left = (waiting[session] ?? 0) - bytes
            waiting[session] = left > 0 ? left : nil
        }
    }
}
