import NIOCore
import RoomDomain
import RoomWire

/// Sends signals of members to each other, within what each may send and what each takes.
struct SignalRelay: Sendable {
    /// A member's signal to another member of a room.
    struct Signal {
        var room: RoomID
        var data: RelayedJSON
        var sender: MemberID
        var recipient: MemberID
    }

    /// Where a signal goes.
    struct Route {
        /// To the recipient's connections here; nil if it has none.
        var here: RelayedSignal?
        /// The other servers at which the recipient is connected.
        var servers: [String] = []
    }

    /// The time after which to retry a signal to a member who does not take those that wait.
    private static let retryAfterBacklogMs = 1_000

    private let shares: SignalShares
    private let backlog: SignalBacklog
    private let registry: PresenceRegistry
    private let metrics: RoomMetrics

    init(shares: SignalShares, backlog: SignalBacklog, registry: PresenceRegistry, metrics: RoomMetrics) {
        self.shares = shares
        self.backlog = backlog
        self.registry = registry
        self.metrics = metrics
    }

    /// Charges the sender's session for a signal, and returns where the signal goes.
    ///
    /// `session` is the recipient's; nil if there is no such member. `isHere` tells whether it is connected to this server.
    func send(
        _ signal: Signal, of sender: SessionID, to session: SessionID?, isHere: Bool, at now: NIODeadline
    ) -> (outcome: EphemeralOutcome, route: Route) {
        let servers = registry.servers(of: signal.recipient, in: signal.room)
        guard let session, isHere || !servers.isEmpty else {
            return (.failed(.refused(.notFound("this member is not connected"))), Route())
        }
        if let wait = shares.charge(signal.data.text.count, to: sender, for: session, at: now) {
            metrics.signalRefused(.tooMany)
            return (.rateLimited(retryAfterMs: wait), Route())
        }
        let here = isHere ? arrived(signal, for: session) : nil
        guard !isHere || here != nil else {
            metrics.signalRefused(.waiting)
            return (.rateLimited(retryAfterMs: Self.retryAfterBacklogMs), Route())
        }
        return (.done, Route(here: here, servers: servers))
    }

    /// Charges the recipient's connections here for a signal; nil if that exceeds the limit on waiting ones.
    func arrived(_ signal: Signal, for session: SessionID) -> RelayedSignal? {
        let message = ServerMessage.signal(room: signal.room, from: signal.sender, data: signal.data)
        return backlog.charge(message.count, to: session).map {
            RelayedSignal(room: signal.room, session: session, message: message, charge: $0)
        }
    }

    /// Records that a signal that another server relays reaches nobody here.
    func noteLost() { metrics.signalNotArrived() }
}
