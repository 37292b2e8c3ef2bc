import NIOCore
import RoomDomain

/// How much members may say to each other, over all rooms and event loops: the sender is refused before the recipient
/// has too much.
///
/// A signal counts once, and once more for each KiB. By default 40 signals of 64 KiB together fit for eight pairs at once.
final class SignalShares: Sendable {
    private struct Pair: Hashable {
        var sender: SessionID
        var recipient: SessionID
    }

    /// What part of a sender's share may go to one recipient.
    private static let partOfPair = 4
    private static let bytesOfOneSignal = 1_024

    private let ofSender: BucketTable<SessionID>
    private let ofPair: BucketTable<Pair>

    /// Gives each sender so much a second, and five times as much at once; 0: any amount.
    init(perSecond: Int) {
        ofSender = BucketTable(perSecond > 0 ? Allowance(perSecond: perSecond) : nil)
        ofPair = BucketTable(perSecond > 0 ? Allowance(perSecond: max(1, perSecond / Self.partOfPair)) : nil)
    }

    /// Charges a sender for `bytes` to a recipient and returns nil, or returns after how many milliseconds it is worth
    /// trying again; then nothing is charged.
    func charge(_ bytes: Int, to sender: SessionID, for recipient: SessionID, at now: NIODeadline) -> Int? {
        let cost = 1 + bytes / Self.bytesOfOneSignal
        if let wait = ofSender.take(sender, cost, at: now) { return wait }
        guard let wait = ofPair.take(Pair(sender: sender, recipient: recipient), cost, at: now) else { return nil }
        ofSender.giveBack(sender, cost, at: now)
        return wait
    }
}
