import NIOCore
import RoomClient
import Synchronization

/// The connection that had an answer last, which waits some seconds for another request.
final class IdleConnection: Sendable {
    private struct Kept {
        let server: ServerAddress
        let channel: any Channel
        let timer: Scheduled<Void>

        func end() {
            timer.cancel()
            channel.close(promise: nil)
        }
    }

    private let time: TimeAmount
    private let kept = Mutex<Kept?>(nil)

    /// Keeps none yet.
    init(lasting time: TimeAmount) {
        self.time = time
    }

    deinit { kept.withLock { $0.take() }?.end() }

    /// Gives the connection away, if there is one to this server.
    func take(for server: ServerAddress) -> (any Channel)? {
        let taken = kept.withLock { kept in kept?.server == server ? kept.take() : nil }
        guard let taken else { return nil }
        taken.timer.cancel()
        return taken.channel.isActive ? taken.channel : nil
    }

    /// Keeps a connection in place of the one before, and closes it when its time is over.
    func keep(_ channel: any Channel, for server: ServerAddress) {
        // Also if nobody has the transport any more.
        let timer = channel.eventLoop.scheduleTask(in: time) { [weak self] in
            guard let self else { return channel.close(promise: nil) }
            let isHere = kept.withLock { kept in
                guard kept?.channel === channel else { return false }
                kept = nil
                return true
            }
            if isHere { channel.close(promise: nil) }
        }
        let before = kept.withLock { kept in
            defer { kept = Kept(server: server, channel: channel, timer: timer) }
            return kept
        }
        before?.end()
    }
}
