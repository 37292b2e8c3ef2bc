package import RoomDomain
import Synchronization

/// The bytes of signals on their way to each session's connections to this server.
///
/// A signal is charged until each of its connections has given it to its transport, or is gone. No connection therefore
/// has more of them waiting than is charged to its session.
package final class SignalBacklog: Sendable {
    /// One signal on its way; releasing it ends the charge.
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

    /// Allows `maximum` bytes on their way to one session; a single signal is always allowed.
    package init(maximum: Int) {
        self.maximum = maximum
    }

    /// Charges a signal of `bytes` to its recipient's session; nil if too much is on its way already.
    package func charge(_ bytes: Int, to session: SessionID) -> Charge? {
        let fits = waiting.withLock { waiting in
            let before = waiting[session] ?? 0
            guard before == 0 || before + bytes <= maximum else { return false }
            waiting[session] = before + bytes
            return true
        }
        return fits ? Charge(self, session: session, bytes: bytes) : nil
    }

    /// The number of bytes on their way to a session.
    package func count(of session: SessionID) -> Int { waiting.withLock { $0[session] ?? 0 } }

    private func release(_ bytes: Int, of session: SessionID) {
        waiting.withLock { waiting in
            let left = (waiting[session] ?? 0) - bytes
            waiting[session] = left > 0 ? left : nil
        }
    }
}
