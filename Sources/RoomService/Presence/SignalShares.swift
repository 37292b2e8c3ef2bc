import NIOCore
import RoomDomain

/// The rates at which members may send signals, over all rooms and event loops: the sender is refused before the
/// recipient has too much.
///
/// A signal counts as one, and one more for each KiB. By default, eight pairs at once can each send 40 signals of 64
/// KiB together.
final class SignalShares: Sendable {
    private struct Pair: Hashable {
        var sender: SessionID
        var recipient: SessionID
    }

    /// The divisor that gives the part of a sender's share for one recipient.
    private static let partOfPair = 4
    private static let bytesOfOneSignal = 1_024

    private let ofSender: BucketTable<SessionID>
    private let ofPair: BucketTable<Pair>

    /// Gives each sender `perSecond` units a second, and five times as many at once; 0 allows any number.
    init(perSecond: Int) {
        ofSender = BucketTable(perSecond > 0 ? Allowance(perSecond: perSecond) : nil)
        ofPair = BucketTable(perSecond > 0 ? Allowance(perSecond: max(1, perSecond / Self.partOfPair)) : nil)
    }

    /// Charges a sender for `bytes` to a recipient and returns nil.
    ///
    /// If a share is used up, nothing is charged, and the milliseconds are returned after which a retry may succeed.
    func charge(_ bytes: Int, to sender: SessionID, for recipient: SessionID, at now: NIODeadline) -> Int? {
        let cost = 1 + bytes / Self.bytesOfOneSignal
        if let wait = ofSender.take(sender, cost, at: now) { return wait }
        guard let wait = ofPair.take(Pair(sender: sender, recipient: recipient), cost, at: now) else { return nil }
        ofSender.giveBack(sender, cost, at: now)
        return wait
    }
}
