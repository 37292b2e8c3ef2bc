import RoomService

/// The events that one follower of a room was given, and those that it lacks.
///
/// A follower that did not keep up is given nothing until it has asked for what it lacks and was answered. It asks again
/// where the answer did not reach the end, where the room's log was replaced, or where its client asks.
struct FollowerProgress: Equatable {
    /// The last event that was written to the connection.
    private(set) var seq: Int
    /// The first event that was left out; nil if none was.
    private(set) var leftOutFrom: Int?
    /// Whether the connection was shown another log, so that only a snapshot may come next.
    private var beginsAnew = false
    /// Whether the events that were left out are the rest of an answer, which the connection requests once it has taken
    /// the first part.
    private var awaitsRest = false
    /// Whether the client has asked for the room again.
    ///
    /// Until the answer arrives the connection gets nothing, so that no snapshot goes back.
    private var awaitsAnswer = false

    /// The progress of a connection that has all events up to `seq`.
    init(seq: Int) {
        self.seq = seq
    }

    /// The last event that the connection was given.
    var position: Int { leftOutFrom.map { $0 - 1 } ?? seq }

    /// Whether no event was left out.
    var isWhole: Bool { leftOutFrom == nil }

    /// Whether events from `from` on may be given next.
    func takes(from: Int) -> Bool { leftOutFrom == nil && from == seq + 1 }

    /// The request for the events that were left out; nil if there is nothing to ask for, or the client has asked.
    var wish: SubscriptionWish? {
        guard let from = leftOutFrom, !awaitsAnswer else { return nil }
        if beginsAnew { return .anew }
        return awaitsRest ? .rest(from: from) : .collapse(from: from)
    }

    /// Whether an answer counts.
    ///
    /// One that was not asked for by the client is late if the connection was given the events in another way since, if
    /// the client has asked for the room again, or if it is the rest of a log that no longer exists.
    func accepts(_ subscription: Subscription) -> Bool {
        guard subscription.isCatchUp else { return true }
        guard let leftOutFrom, !awaitsAnswer else { return false }
        return subscription.leftOutFrom ?? leftOutFrom == leftOutFrom && (subscription.isSnapshot || !beginsAnew)
    }

    // MARK: What happens

    /// Events up to `seq` were written, or are queued.
    mutating func gave(through seq: Int) { self.seq = seq }

    /// Events from `seq` on are not sent.
    mutating func leaveOut(from seq: Int) { leftOutFrom = min(seq, leftOutFrom ?? seq) }

    /// The client has asked for the room again.
    mutating func askedAgain() {
        leaveOut(from: seq + 1)
        awaitsAnswer = true
    }

    /// The client's request was refused, so that the connection may ask for the events that were left out.
    mutating func refused() { awaitsAnswer = false }

    /// The room's log was replaced.
    mutating func beginAnew() {
        leaveOut(from: seq + 1)
        beginsAnew = true
    }

    /// An answer up to `seq` was given; a rest follows unless it `isWhole`.
    mutating func answered(through seq: Int, isWhole: Bool) {
        self = FollowerProgress(seq: seq)
        guard !isWhole else { return }
        leftOutFrom = seq + 1
        awaitsRest = true
    }
}
