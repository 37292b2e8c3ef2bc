import NIOCore
import RoomDomain

/// What a session and an address may read of logs in a second, over all event loops.
///
/// A read is charged when its size is known, and so the last ones, as many as run side by side, may overdraw a share:
/// more are refused until they are paid for.
/// What the server reads for itself, and to let a client resume, is not charged.
final class ReadShares: Sendable {
    private let ofSession: BucketTable<SessionID>
    private let ofNetwork: BucketTable<UInt64>
    private let metrics: LogMetrics

    /// Makes the shares that the limits name; refusals are counted in `metrics`.
    init(_ limits: ShareLimits, metrics: LogMetrics) {
        func table<Key>(_ kibPerSecond: Int) -> BucketTable<Key> {
            BucketTable(kibPerSecond > 0 ? Allowance(perSecond: kibPerSecond) : nil)
        }
        ofSession = table(limits.maximumReadKiBPerSession)
        ofNetwork = table(limits.maximumReadKiBPerAddress)
        self.metrics = metrics
    }

    /// Refuses if one of the shares is used up.
    func look(_ asker: Asker, at now: NIODeadline = .now()) throws(RoomFailure) {
        if let wait = ofSession.wait(asker.session, at: now) {
            throw refusal(.session, "this session reads too much of logs", wait)
        }
        if let address = asker.address, let wait = ofNetwork.wait(address, at: now) {
            throw refusal(.address, "this address reads too much of logs", wait)
        }
    }

    /// Charges a session, and the address that it comes from, for what was read.
    func charge(_ bytes: Int, to asker: Asker, at now: NIODeadline = .now()) {
        let cost = 1 + bytes / 1_024
        ofSession.charge(asker.session, cost, at: now)
        if let address = asker.address { ofNetwork.charge(address, cost, at: now) }
    }

    private func refusal(_ share: LogMetrics.ReadShare, _ text: String, _ wait: Int) -> RoomFailure {
        metrics.shareUsedUp(share)
        return .refused(.rateLimited(text, retryAfterMs: Int64(wait)))
    }
}
