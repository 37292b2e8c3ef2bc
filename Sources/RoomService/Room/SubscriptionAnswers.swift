import EventStorage
import RoomDomain
import RoomLog
import RoomWire

/// Makes a room's answers to requests to follow it: from the newest events in memory, from the log, or from a snapshot.
///
/// Invariants, which the tests cite by number:
///
/// 1. **An answer does not go back in time.** A client that has seen more than the room knows is answered when the room is
///    at its log's head, or refused.
/// 2. **The deltas begin where the answer ends.** Its messages have all events up to its position, without a gap, and it
///    tells whether that is the room's last one.
/// 3. **An answer is never made of two logs.** Events of a log that was replaced lead to a snapshot.
/// 4. **Nothing is shown that was removed since**: neither in what was read before that, nor in what was encoded.
struct SubscriptionAnswers {
    /// The next step toward an answer.
    enum Way: Equatable {
        /// Refuses the request.
        case refuse(RoomFailure)
        /// Answers with these events, which follow the position of the connection.
        case resume(after: Int, with: ArraySlice<RecordedEvent>)
        /// Reads what the connection lacks.
        case read(MissedEvents)
        /// Encodes the room's state; if it is outdated by then, as many times as this in all.
        case encode(attempts: Int)
        /// Answers with this state, and the events after it.
        case begin(EncodedState)
    }

    /// The most times that a state is encoded for one request.
    private static let attempts = 3

    /// The newest durable events, so that resuming after a short absence needs no read.
    private(set) var recent: RecentEvents
    private let logIsShared: Bool
    private let resumableEvents: Int
    private let resumableBytes: Int
    private let answeredBytes: Int

    init(recent: RecentEvents, settings: RoomHostSettings) {
        self.recent = recent
        logIsShared = settings.logIsShared
        resumableEvents = settings.answers.resumableEvents
        resumableBytes = settings.answers.resumableBytes
        answeredBytes = settings.answers.answeredDeltaBytes
    }

    // MARK: The room

    /// Keeps durable events that follow the last one, and removes what they no longer show to anybody.
    mutating func add(_ events: [RecordedEvent], _ redaction: Redaction) {
        recent.append(events)
        if !redaction.isEmpty { recent.redact(redaction) }
        if redaction.isForgotten { recent = RecentEvents() }
    }

    /// The log was replaced by one with these newest events.
    mutating func replaced(recent: RecentEvents) { self.recent = recent }

    // MARK: The way to an answer

    /// Whether the room has to look at its log before it answers.
    ///
    /// A room with followers hears of other servers' events, but not of keyed commands that change nothing; their count
    /// is told to a client that asks. A location that another server has cleared must not be shown, even before this is
    /// announced.
    func mustVerify(_ request: SubscriptionRequest, in writer: borrowing RoomWriter, isFollowed: Bool) -> Bool {
        let tellsCount = !request.wish.isCatchUp
        let mayBeBehind =
            tellsCount && (logIsShared || writer.condition != .current)
            || logIsShared && (!isFollowed || writer.confirmed.location != nil)
        return isAhead(request, of: writer) || mayBeBehind
    }

    /// Whether the client has seen more, on another node, than this room knows.
    private func isAhead(_ request: SubscriptionRequest, of writer: borrowing RoomWriter) -> Bool {
        guard let position = request.wish.position else { return false }
        return position.epoch == writer.epoch && position.seq > writer.confirmed.seq
    }

    /// The answer to a request, or the way to it.
    func way(for request: SubscriptionRequest, in writer: borrowing RoomWriter, at time: Timestamp) -> Way {
        if writer.condition == .forgotten { return .refuse(.noSuchRoom) }
        if let refusal = writer.confirmed.refusal(of: request.session, at: time) { return .refuse(.refused(refusal)) }
        // Without the log there is no answer for a client that has seen more: a snapshot would go back in time.
        guard !isAhead(request, of: writer) || writer.condition == .current else { return .refuse(.unavailable) }
        let last = writer.confirmed.seq
        // Of a forgotten room no event is shown, and nothing can happen in it any more.
        guard let seq = lastSeen(by: request, of: writer.epoch), seq >= 0, seq <= last, last - seq <= resumableEvents,
            !writer.confirmed.isForgotten || seq == last
        else { return .encode(attempts: Self.attempts) }
        let missing = last - seq
        if missing <= recent.count { return .resume(after: seq, with: recent.suffix(missing)) }
        // The rest of an answer is read as the connection takes it; its size was checked before.
        let isWhole = !request.wish.isRest
        return .read(
            MissedEvents(
                room: writer.confirmed.id, epoch: writer.epoch, after: seq, through: last,
                bytes: isWhole ? resumableBytes : answeredBytes, isWhole: isWhole))
    }

    /// The last event of this log that a connection has; nil if it needs a snapshot.
    private func lastSeen(by request: SubscriptionRequest, of epoch: String) -> Int? {
        switch request.wish {
        case .begin(_, let position): position?.epoch == epoch ? position?.seq : nil
        case .rest(let from): from - 1
        case .collapse, .anew: nil
        }
    }

    /// The way after a read of the log, which has brought the first events of the part; nil if they cannot be had.
    ///
    /// `follows` tells whether the connection has neither left nor been removed in the meantime.
    func way(
        for request: SubscriptionRequest, after part: MissedEvents, _ events: [RecordedEvent]?, follows: Bool,
        in writer: borrowing RoomWriter, at time: Timestamp
    ) -> Way {
        guard follows else { return lateRefusal(of: request, in: writer, at: time) }
        guard let events, part.epoch == writer.epoch, !writer.confirmed.isForgotten else {
            return .encode(attempts: Self.attempts)
        }
        let missing = writer.confirmed.seq - part.after - events.count
        // The location may have been cleared since, or the events may still contain an earlier one.
        let shown = writer.confirmed.redaction.shown(events)
        return .resume(after: part.after, with: (missing <= recent.count ? shown + recent.suffix(missing) : shown)[...])
    }

    /// The way after the encoding of a state, of which there is none if the work was refused or the room is gone.
    ///
    /// If the events since are no longer in memory, another state is encoded, a limited number of times.
    func way(
        for request: SubscriptionRequest, with state: EncodedState?, attempts: Int, follows: Bool,
        in writer: borrowing RoomWriter, at time: Timestamp
    ) -> Way {
        guard follows, let state else { return lateRefusal(of: request, in: writer, at: time) }
        guard writer.confirmed.seq - state.shared.seq > recent.count else { return .begin(state) }
        return attempts > 1 ? .encode(attempts: attempts - 1) : .refuse(.unavailable)
    }

    /// Refuses a connection that has left, or was removed, while its answer was made.
    private func lateRefusal(
        of request: SubscriptionRequest, in writer: borrowing RoomWriter, at time: Timestamp
    ) -> Way {
        // The session was banned, or the room forgotten; or the connection has gone and does not listen.
        if writer.condition == .forgotten { return .refuse(.noSuchRoom) }
        let refusal = writer.confirmed.refusal(of: request.session, at: time)
        return .refuse(refusal.map { .refused($0) } ?? .unavailable)
    }

    // MARK: Answers

    /// Gives the connection the events after `seq`, or the first of them; `told` is nil for the rest of an answer.
    func resumed(
        _ request: SubscriptionRequest, after seq: Int, with events: ArraySlice<RecordedEvent>,
        in writer: borrowing RoomWriter, _ told: RoomFollowing.Told?
    ) -> Subscription {
        let room = writer.confirmed.id
        var (messages, reached) = deltas(of: events, after: seq, in: room)
        if let told {
            let resumed = ServerMessage.resumed(
                re: request.wish.id, room: room, epoch: writer.epoch, seq: writer.confirmed.seq,
                keyed: keyed(shownTo: request, in: writer), you: YouJSON.encode(writer.confirmed, request.session),
                presence: told.presence, deck: told.deck)
            messages.insert(RoomMessage(resumed), at: 0)
        }
        return subscription(request, messages, through: reached, isSnapshot: false, in: writer)
    }

    /// Gives the connection a snapshot, and the events since it was made.
    func begun(
        _ request: SubscriptionRequest, with state: EncodedState, in writer: borrowing RoomWriter,
        _ told: RoomFollowing.Told, at time: Timestamp
    ) -> Subscription {
        let (room, seq) = (writer.confirmed.id, state.shared.seq)
        let (head, tail) = ServerMessage.snapshotParts(
            re: request.wish.id, room: room, epoch: writer.epoch, seq: seq, keyed: keyed(shownTo: request, in: writer),
            time: time, you: YouJSON.encode(state.room, request.session), presence: told.presence, deck: told.deck,
            collapsed: request.wish.leftOutFrom.flatMap { $0 <= seq ? $0...seq : nil })
        let (deltas, reached) = deltas(of: recent.suffix(writer.confirmed.seq - seq), after: seq, in: room)
        let messages = [RoomMessage(head: head, state: state.shared, tail: tail)] + deltas
        return subscription(request, messages, through: reached, isSnapshot: true, in: writer)
    }

    private func subscription(
        _ request: SubscriptionRequest, _ messages: [RoomMessage], through seq: Int, isSnapshot: Bool,
        in writer: borrowing RoomWriter
    ) -> Subscription {
        Subscription(
            connection: request.connection, room: writer.confirmed.id, seq: seq, isWhole: seq == writer.confirmed.seq,
            isCatchUp: request.wish.isCatchUp, leftOutFrom: request.wish.leftOutFrom, isSnapshot: isSnapshot,
            messages: messages)
    }

    /// The first of these events, as many as one answer may have, and the last event among them.
    private func deltas(
        of events: ArraySlice<RecordedEvent>, after seq: Int, in room: RoomID
    ) -> (messages: [RoomMessage], reached: Int) {
        var (count, bytes) = (0, 0)
        for event in events {
            bytes += event.weight
            // At least one, so that a connection that asks for the rest makes progress.
            guard count == 0 || bytes <= answeredBytes else { break }
            count += 1
        }
        let first = Array(events.prefix(count))
        let messages = PublishedEvents.parts(of: first, in: room).map { RoomMessage($0.message) }
        return (messages, first.last?.seq ?? seq)
    }

    /// The count of keyed commands in an answer; nil while the log is out of reach, because it may have more of them.
    ///
    /// Where the client has not asked, the count may be older than the message.
    private func keyed(shownTo request: SubscriptionRequest, in writer: borrowing RoomWriter) -> Int? {
        request.isVerified || request.wish.isCatchUp ? writer.version.keyed : nil
    }
}
