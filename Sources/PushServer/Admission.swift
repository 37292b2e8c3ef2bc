import CoreMetrics
import NIOCore
import PrometheusMetrics
import RoomDomain
import RoomService
import RoomWire

/// How much each address, session and member may ask for, over all event loops.
///
/// Looked at where somebody asks, never where a room's changes go out.
final class Admission: Sendable {
    /// One session in one room, whatever connections it comes on.
    ///
    /// Not the room: an allowance that all shared would be used up by whoever floods it, and the room closed to everybody.
    private struct Participant: Hashable {
        var session: SessionID
        var room: RoomID
    }

    /// One limit: what is left for each key, what is counted, and how often that was too much.
    private struct Limit<Key: Hashable & Sendable>: Sendable {
        var table: BucketTable<Key>
        var what: String
        var refusals: Counter

        func check(_ key: Key) throws(CommandFailure) {
            guard let wait = table.take(key) else { return }
            refusals.increment()
            throw CommandFailure(.rateLimited, "too many \(what)", retryAfterMs: wait)
        }
    }

    /// What waits for all peers.
    let waiting: WaitingBytes
    private let proxies: TrustedProxies
    private let newSessions: Limit<UInt64>
    private let requestsOfAddress: Limit<UInt64>
    private let requestsOfSession: Limit<SessionID>
    private let commands: Limit<Participant>
    private let searches: Limit<SessionID>

    init(_ settings: RoomServerSettings, registry: PrometheusRegistry) {
        registry.describe([
            "backline_rate_limited_total": "Requests, commands and nearby searches refused because there were too many."
        ])
        func limit<Key>(_ allowance: Allowance?, _ name: String, _ what: String) -> Limit<Key> {
            Limit(
                table: BucketTable(allowance), what: what,
                refusals: Counter(
                    label: "backline_rate_limited_total", dimensions: [("limit", name)], factory: registry))
        }
        func perSecond(_ count: Int) -> Allowance? { count > 0 ? Allowance(perSecond: count) : nil }
        let sessions = settings.maximumSessionsPerMinute
        waiting = WaitingBytes(
            maximum: settings.maximumWaitingBytes, maximumPerAddress: settings.maximumWaitingBytesPerAddress)
        proxies = TrustedProxies(networks: settings.trustedProxies)
        newSessions = limit(
            sessions > 0 ? Allowance(perMinute: sessions) : nil, "sessions", "new sessions from this address")
        requestsOfAddress = limit(
            perSecond(settings.maximumRequestsPerAddress), "address", "requests from this address")
        requestsOfSession = limit(perSecond(settings.maximumRequestsPerSession), "session", "requests of this session")
        commands = limit(perSecond(settings.maximumCommandsPerSecond), "room", "commands in this room")
        let ofMinute = settings.maximumSearchesPerMinute
        searches = limit(ofMinute > 0 ? Allowance(perMinute: ofMinute) : nil, "searches", "nearby searches")
    }

    /// The account of what waits for a peer's connection, charged to where the peer comes from.
    func account(
        of peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]
    ) -> WaitingBytes.Account {
        waiting.account(of: proxies.network(of: peer, forwardedFor: fields()))
    }

    /// Counts a request or an opening handshake of an address.
    func request(from peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) throws(CommandFailure) {
        guard let network = proxies.network(of: peer, forwardedFor: fields()) else { return }
        try requestsOfAddress.check(network)
    }

    /// Counts a new session of an address.
    func newSession(
        from peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]
    ) throws(CommandFailure) {
        guard let network = proxies.network(of: peer, forwardedFor: fields()) else { return }
        try newSessions.check(network)
    }

    /// Counts a request of a session.
    func request(of session: SessionID) throws(CommandFailure) {
        try requestsOfSession.check(session)
    }

    /// Counts a nearby search or a new nearby subscription of a session.
    func search(of session: SessionID) throws(CommandFailure) {
        try searches.check(session)
    }

    /// Counts a command of a session in a room.
    func command(of session: SessionID, in room: RoomID) throws(CommandFailure) {
        try commands.check(Participant(session: session, room: room))
    }
}
