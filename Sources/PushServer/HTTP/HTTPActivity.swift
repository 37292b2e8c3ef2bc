import NIOCore
import Synchronization

/// The open HTTP connections, and the number of requests being answered.
///
/// A stop waits until no request is being answered, and then closes the connections.
final class HTTPActivity: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var requests = 0
    }

    private let state = Mutex(State())

    /// Records a connection until it closes, and keeps its place among those of its address until then.
    func opened(_ channel: any Channel, _ ticket: AddressLimit.Ticket?) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.channels[id] = channel }
        channel.closeFuture.whenComplete { _ in
            withExtendedLifetime(ticket) { self.state.withLock { $0.channels[id] = nil } }
        }
    }

    /// Records that a connection has become a socket.
    func left(_ channel: any Channel) {
        state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
    }

    /// The number of open connections.
    var openConnections: Int { state.withLock { $0.channels.count } }

    /// Records that a request is being answered.
    func began() {
        state.withLock { $0.requests += 1 }
    }

    /// Records that a request has been answered.
    func ended() {
        state.withLock { $0.requests -= 1 }
    }

    /// Whether any request is being answered.
    var areUnderWay: Bool { state.withLock { $0.requests > 0 } }

    /// Closes all connections.
    func closeAll() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
}
