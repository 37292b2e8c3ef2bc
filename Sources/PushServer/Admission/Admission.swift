import CoreMetrics
import NIOCore
import PrometheusMetrics
import RoomDomain
import RoomService
import RoomWire

/// The rates that each address, session and member may reach, over all event loops.
///
/// They are checked when a request or message arrives, never when changes of a room are sent.
final class Admission: Sendable {
    /// One session in one room, on any connection.
    ///
    /// The key is not the room alone: one flooding session would use up an allowance that all members share, and close
    /// the room to everybody.
    private struct Participant: Hashable {
        var session: SessionID
        var room: RoomID
    }

    /// One address and one room.
    private struct Door: Hashable {
        var address: UInt64
        var room: RoomID
    }

    /// One limit: the allowance left for each key, the subject in words, and the count of refusals.
    private struct Limit<Key: Hashable & Sendable>: Sendable {
        var table: BucketTable<Key>
        var what: String
        var refusals: Counter

        func check(_ key: Key, _ cost: Int = 1) throws(CommandFailure) {
            guard let wait = table.take(key, cost) else { return }
            throw refusal(retryAfterMs: wait)
        }

        /// Refuses if nothing is left; uses nothing.
        func look(_ key: Key) throws(CommandFailure) {
            guard let wait = table.wait(key) else { return }
            throw refusal(retryAfterMs: wait)
        }

        private func refusal(retryAfterMs wait: Int) -> CommandFailure {
            refusals.increment()
            return CommandFailure(.rateLimited, "too many \(what)", retryAfterMs: wait)
        }
    }

    /// The bytes that wait for all peers.
    let waiting: WaitingBytes
    /// The room states on their way to peers.
    let states: HeldStates
    private let framesOfSession: Limit<SessionID>
    private let framesOfAddress: Limit<UInt64>
    private let sockets: OpenCount<SessionID>
    private let socketRefusals: Counter
    private let proxies: TrustedProxies
    private let newSessions: Limit<UInt64>
    private let requestsOfAddress: Limit<UInt64>
    private let requestsOfSession: Limit<SessionID>
    private let commands: Limit<Participant>
    private let searches: Limit<SessionID>
    private let searchesOfAddress: Limit<UInt64>
    private let watches: OpenCount<UInt64>
    private let failedLookups: Limit<SessionID>
    private let failedLookupsOfAddress: Limit<UInt64>
    private let joins: Limit<Door>

    init(_ settings: RoomServerSettings, registry: PrometheusRegistry) {
        registry.describe([
            "backline_rate_limited_total": "Refusals because of a limit on a rate or on waiting bytes, by limit."
        ])
        func refusals(_ name: String) -> Counter {
            Counter(label: "backline_rate_limited_total", dimensions: [("limit", name)], factory: registry)
        }
        func limit<Key>(_ allowance: Allowance?, _ name: String, _ what: String) -> Limit<Key> {
            Limit(table: BucketTable(allowance), what: what, refusals: refusals(name))
        }
        func perSecond(_ count: Int) -> Allowance? { count > 0 ? Allowance(perSecond: count) : nil }
        framesOfSession = limit(perSecond(settings.rates.maximumMessagesPerSession), "messages_session", "messages")
        framesOfAddress = limit(perSecond(settings.rates.maximumMessagesPerAddress), "messages_address", "messages")
        sockets = OpenCount(maximum: settings.rates.maximumSocketsPerSession)
        socketRefusals = refusals("sockets")
        let sessions = settings.rates.maximumSessionsPerMinute
        waiting = WaitingBytes(
            maximum: settings.sizes.maximumWaitingBytes, maximumPerAddress: settings.sizes.maximumWaitingBytesPerAddress
        )
        states = HeldStates(waiting)
        proxies = TrustedProxies(networks: settings.trustedProxies)
        newSessions = limit(
            sessions > 0 ? Allowance(perMinute: sessions) : nil, "sessions", "new sessions from this address")
        requestsOfAddress = limit(
            perSecond(settings.rates.maximumRequestsPerAddress), "address", "requests from this address")
        requestsOfSession = limit(
            perSecond(settings.rates.maximumRequestsPerSession), "session", "requests of this session")
        commands = limit(perSecond(settings.rates.maximumCommandsPerSecond), "room", "commands in this room")
        func perMinute(_ count: Int, minutesAtOnce: Int = Allowance.burst) -> Allowance? {
            count > 0 ? Allowance(perMinute: count, minutesAtOnce: minutesAtOnce) : nil
        }
        let searches = settings.rates.maximumSearchesPerMinute
        self.searches = limit(perMinute(searches), "searches", "nearby searches, rankings and watches")
        searchesOfAddress = limit(
            perMinute(searches * AdmissionRates.searchesOfAddress), "address_searches",
            "nearby searches, rankings and watches from this address")
        watches = OpenCount(maximum: settings.rates.maximumWatchesPerAddress)
        failedLookups = limit(
            perMinute(settings.rates.maximumFailedLookupsPerMinute), "lookups",
            "look-ups of rooms that do not exist by this session")
        failedLookupsOfAddress = limit(
            perMinute(settings.rates.maximumFailedLookupsPerAddress), "address_lookups",
            "look-ups of rooms that do not exist from this address")
        joins = limit(
            perMinute(settings.rates.maximumJoinsPerMinute, minutesAtOnce: 1), "joins",
            "have joined this room from this address")
    }

    /// Makes the account of bytes that wait on a connection, charged to the address that the peer comes from.
    func account(
        of peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]
    ) -> WaitingBytes.Account {
        waiting.account(of: proxies.network(of: peer, forwardedFor: fields()))
    }

    /// The value that stands for the address that a request comes from; nil if that is not known.
    func network(of peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) -> UInt64? {
        proxies.network(of: peer, forwardedFor: fields())
    }

    /// Counts frames of the sockets of a session and of an address; returns nil, or the milliseconds after which a
    /// retry may succeed.
    func frames(_ count: Int, of session: SessionID, from network: UInt64?) -> Int? {
        let now = NIODeadline.now()
        if let wait = framesOfSession.table.take(session, count, at: now) {
            framesOfSession.refusals.increment()
            return wait
        }
        guard let network, let wait = framesOfAddress.table.take(network, count, at: now) else { return nil }
        framesOfAddress.refusals.increment()
        return wait
    }

    /// Counts an open socket of a session while its ticket is held; nil if there is no limit.
    func socket(of session: SessionID) throws(CommandFailure) -> OpenCount<SessionID>.Ticket? {
        guard let ticket = sockets.admit(session) else { return nil }
        guard !ticket.isOverLimit else {
            socketRefusals.increment()
            throw CommandFailure(.rateLimited, "too many sockets of this session")
        }
        return ticket
    }

    /// The memory of a request's answer, charged to the address that the request comes from.
    func memory(
        of peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]
    ) -> AnswerMemory {
        AnswerMemory(waiting, states, network: proxies.network(of: peer, forwardedFor: fields()))
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

    /// Counts a request's body as further requests, one for each 4 KiB: a client that has sent much waits before its
    /// next request.
    func bodyArrived(_ bytes: Int, of session: SessionID?, from network: UInt64?) {
        let cost = bytes / Self.bytesOfOneRequest
        guard cost > 0 else { return }
        if let session { requestsOfSession.table.charge(session, cost) }
        if let network { requestsOfAddress.table.charge(network, cost) }
    }

    private static let bytesOfOneRequest = 4_096

    /// Counts a nearby search, a ranking or a new watch of a session, from an address if it is known.
    func search(by asker: Asker) throws(CommandFailure) {
        if let address = asker.address { try searchesOfAddress.look(address) }
        try searches.check(asker.session)
        if let address = asker.address { try searchesOfAddress.check(address) }
    }

    /// Takes a place for one watch more of an address; nil if there is no limit.
    func watch(by asker: Asker) throws(CommandFailure) -> WatchPlace? {
        guard let address = asker.address, let place = watches.admit(address) else { return nil }
        guard !place.isOverLimit else { throw CommandFailure(.limitReached, "too many watches from this address") }
        return place
    }

    /// Refuses a look-up after too many failed ones.
    ///
    /// Failed look-ups of others behind the same address do not keep a session without failures of its own from a room
    /// whose id it knows.
    func lookup(by seeker: RoomSeeker, isOfCode: Bool) throws(CommandFailure) {
        try failedLookups.look(seeker.session)
        guard let address = seeker.address, isOfCode || !failedLookups.table.isFull(seeker.session) else { return }
        try failedLookupsOfAddress.look(address)
    }

    /// Counts a look-up that found no room, even if more were under way than the limit allows: the excess is paid for
    /// by a longer wait.
    func lookupFailed(by seeker: RoomSeeker) {
        failedLookups.table.charge(seeker.session)
        if let address = seeker.address { failedLookupsOfAddress.table.charge(address) }
    }

    /// Counts a new member of a room by the address it comes from; returns nil, or the milliseconds after which a retry
    /// may succeed.
    func newcomer(from address: UInt64?, to room: RoomID) -> Int? {
        guard let address, let wait = joins.table.take(Door(address: address, room: room)) else { return nil }
        joins.refusals.increment()
        return wait
    }

    /// Counts a command of a session in a room: once, and once more for each 50 tracks or entries that it names.
    func command(_ command: RoomCommand, of session: SessionID, in room: RoomID) throws(CommandFailure) {
        try commands.check(
            Participant(session: session, room: room), 1 + command.itemCount / Self.itemsOfOneCommand)
    }

    private static let itemsOfOneCommand = 50
}
