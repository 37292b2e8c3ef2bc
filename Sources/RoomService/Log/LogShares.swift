import EventStorage
import NIOCore
import RoomDomain

/// The shares of the event log that a session may fill in one room, a session in all rooms, and an address, over all
/// event loops.
///
/// A command is charged when it is decided, before anything is appended: one for each event, and one for each 256 bytes
/// of all of them and of the waveforms that they bring, estimated by ``RecordedEvent/weight``. The last command may overdraw a share, so that a long one is
/// not refused for ever.
final class LogShares: Sendable {
    private struct Participant: Hashable {
        var session: SessionID
        var room: RoomID
    }

    /// The cost of a new room: its events, and its rows in the directory.
    static let costOfRoom = 20
    private static let bytesOfOneEvent = 256

    private let ofParticipant: BucketTable<Participant>
    private let ofSession: BucketTable<SessionID>
    private let ofNetwork: BucketTable<UInt64>
    private let metrics: LogMetrics

    /// Makes the shares that the settings name; refusals are counted in `metrics`.
    init(_ settings: RoomHostSettings, metrics: LogMetrics) {
        func table<Key>(_ perMinute: Int) -> BucketTable<Key> {
            BucketTable(perMinute > 0 ? Allowance(perMinute: perMinute) : nil)
        }
        ofParticipant = table(settings.shares.maximumEventsPerRoom)
        ofSession = table(settings.shares.maximumEventsPerSession)
        ofNetwork = table(settings.shares.maximumEventsPerAddress)
        self.metrics = metrics
    }

    /// Returns the cost of writing these events.
    static func cost(of events: [RecordedEvent]) -> Int { events.count + events.weight / bytesOfOneEvent }

    /// Returns the cost of writing an append.
    static func cost(of append: StreamAppend) -> Int {
        append.events.count + append.payloadBytes / bytesOfOneEvent
    }

    /// Charges a session, and the address that it comes from, for a command or a new room.
    ///
    /// - Throws: ``RoomRefusal/rateLimited(_:retryAfterMs:)`` if one of the shares is used up; then nothing is charged.
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

    /// Refuses if one of the shares is used up; charges nothing.
    func look(_ session: SessionID, in room: RoomID, from network: UInt64?, at now: NIODeadline) throws(RoomRefusal) {
        if let network, let wait = ofNetwork.wait(network, at: now) { throw refusal(.address, wait) }
        if let wait = ofSession.wait(session, at: now) { throw refusal(.session, wait) }
        if let wait = ofParticipant.wait(Participant(session: session, room: room), at: now) {
            throw refusal(.room, wait)
        }
    }

    private func refusal(_ share: LogMetrics.Share, _ wait: Int) -> RoomRefusal {
        metrics.shareUsedUp(share)
        let text =
            switch share {
            case .room: "this session writes too much to this room"
            case .session: "this session writes too much"
            case .address: "this address writes too much"
            }
        return .rateLimited(text, retryAfterMs: Int64(wait))
    }
}

extension StreamAppend {
    /// The bytes of its events' payloads and of its attachments.
    var payloadBytes: Int {
        events.payloadBytes + attachments.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
    }
}
