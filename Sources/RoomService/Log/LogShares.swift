import EventStorage
import NIOCore
import RoomDomain

/// How much of the event log a session may fill in one room, a session in all rooms, and an address, over all event loops.
///
/// What a command writes is charged when it is decided and before anything is appended: each event counts once, and once
/// more for each 256 bytes that all of them have, as about as ``RecordedEvent/weight`` knows them. The last command may
/// overdraw a share, so that a long one is not refused for ever.
final class LogShares: Sendable {
    private struct Participant: Hashable {
        var session: SessionID
        var room: RoomID
    }

    /// What a new room costs: its events, and its rows in the directory.
    static let costOfRoom = 20
    private static let bytesOfOneEvent = 256

    private let ofParticipant: BucketTable<Participant>
    private let ofSession: BucketTable<SessionID>
    private let ofNetwork: BucketTable<UInt64>
    private let metrics: RoomMetrics

    /// Gives out the shares that the settings name; what is refused is counted in `metrics`.
    init(_ settings: RoomHostSettings, metrics: RoomMetrics) {
        func table<Key>(_ perMinute: Int) -> BucketTable<Key> {
            BucketTable(perMinute > 0 ? Allowance(perMinute: perMinute) : nil)
        }
        ofParticipant = table(settings.maximumEventsPerRoom)
        ofSession = table(settings.maximumEventsPerSession)
        ofNetwork = table(settings.maximumEventsPerAddress)
        self.metrics = metrics
    }

    /// What writing these costs.
    static func cost(of events: [RecordedEvent]) -> Int { events.count + events.weight / bytesOfOneEvent }

    /// What writing an append takes.
    static func cost(of append: StreamAppend) -> Int {
        append.events.count + append.events.reduce(0) { $0 + $1.payload.count } / bytesOfOneEvent
    }

    /// Charges a session, and the address that it comes from, for what it writes: to a room, or to make one.
    ///
    /// - Throws: ``RoomRefusal/rateLimited(_:retryAfterMs:)`` where one of the shares is used up; then nothing is charged.
    func charge(
        _ cost: Int, to session: SessionID, in room: RoomID?, from network: UInt64?, at now: NIODeadline
    ) throws(RoomRefusal) {
        if let network, let wait = ofNetwork.take(network, cost, at: now) {
            throw refusal(.address, wait)
        }
        if let wait = ofSession.take(session, cost, at: now) {
            if let network { ofNetwork.giveBack(network, cost, at: now) }
            throw refusal(.session, wait)
        }
        guard let room else { return }
        if let wait = ofParticipant.take(Participant(session: session, room: room), cost, at: now) {
            if let network { ofNetwork.giveBack(network, cost, at: now) }
            ofSession.giveBack(session, cost, at: now)
            throw refusal(.room, wait)
        }
    }

    /// Refuses where one of the shares is used up, and charges nothing.
    func look(_ session: SessionID, in room: RoomID, from network: UInt64?, at now: NIODeadline) throws(RoomRefusal) {
        if let network, let wait = ofNetwork.wait(network, at: now) { throw refusal(.address, wait) }
        if let wait = ofSession.wait(session, at: now) { throw refusal(.session, wait) }
        if let wait = ofParticipant.wait(Participant(session: session, room: room), at: now) {
            throw refusal(.room, wait)
        }
    }

    private func refusal(_ share: RoomMetrics.LogShare, _ wait: Int) -> RoomRefusal {
        metrics.logShareUsedUp(share)
        let text =
            switch share {
            case .room: "too much is written to this room by this session"
            case .session: "too much is written by this session"
            case .address: "too much is written from this address"
            }
        return .rateLimited(text, retryAfterMs: Int64(wait))
    }
}
