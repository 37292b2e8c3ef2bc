import NIOCore
import RoomDomain
import RoomWire

/// How much each address, session and member may ask for, over all event loops.
///
/// Looked at where somebody asks, never where a room's changes go out.
final class Admission: Sendable {
    /// One session in one room. A room that everybody shared one allowance for would be closed to all by whoever floods
    /// it; so each has its own, whatever connections it comes on.
    private struct Participant: Hashable {
        var session: SessionID
        var room: RoomID
    }

    private let proxies: TrustedProxies
    private let newSessions: BucketTable<UInt64>
    private let requestsOfAddress: BucketTable<UInt64>
    private let requestsOfSession: BucketTable<SessionID>
    private let commands: BucketTable<Participant>

    init(_ settings: RoomServerSettings) {
        func table<Key>(_ count: Int, _ allowance: (Int) -> Allowance) -> BucketTable<Key> {
            BucketTable(count > 0 ? allowance(count) : nil)
        }
        proxies = TrustedProxies(networks: settings.trustedProxies)
        newSessions = table(settings.maximumSessionsPerMinute, Allowance.init(perMinute:))
        requestsOfAddress = table(settings.maximumRequestsPerAddress, Allowance.init(perSecond:))
        requestsOfSession = table(settings.maximumRequestsPerSession, Allowance.init(perSecond:))
        commands = table(settings.maximumCommandsPerSecond, Allowance.init(perSecond:))
    }

    /// Counts a request or an opening handshake of an address.
    func request(from peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) throws(CommandFailure) {
        try check(requestsOfAddress, proxies.network(of: peer, forwardedFor: fields()), "requests from this address")
    }

    /// Counts a new session of an address.
    func newSession(
        from peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]
    ) throws(CommandFailure) {
        try check(newSessions, proxies.network(of: peer, forwardedFor: fields()), "new sessions from this address")
    }

    /// Counts a request of a session.
    func request(of session: SessionID) throws(CommandFailure) {
        try check(requestsOfSession, session, "requests of this session")
    }

    /// Counts a command of a session in a room.
    func command(of session: SessionID, in room: RoomID) throws(CommandFailure) {
        try check(commands, Participant(session: session, room: room), "commands in this room")
    }

    private func check<Key>(_ table: BucketTable<Key>, _ key: Key?, _ what: String) throws(CommandFailure) {
        guard let key, let wait = table.take(key) else { return }
        throw CommandFailure(.rateLimited, "too many \(what)", retryAfterMs: wait)
    }
}
