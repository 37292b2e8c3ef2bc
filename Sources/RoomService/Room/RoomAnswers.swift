import EventStorage
import NIOCore
import RoomDomain
import RoomWire

/// Answers who asks to follow a room, or to look at it: a machine without an event loop.
///
/// The room and its followers are given to each input, whose steps are taken at once and in order. Invariants, which the
/// tests cite by number:
///
/// 1. Each question is answered once.
/// 2. A connection follows before its answer is made, and is refused if it does not follow any more by then.
/// 3. Each answer shows the room as it is when the answer is made, or as it was when it was encoded, with all events since.
package struct RoomAnswers: ~Copyable {
    /// Receives a look at the room.
    package typealias Viewer = @Sendable (Result<RoomView, RoomFailure>) -> Void

    /// What its owner has to do.
    enum Step {
        /// Takes what follows from a new follower.
        case follow([FollowingStep])
        /// Tells a feed the answer to a request to follow the room.
        case tell(RoomNews, any RoomFeed)
        /// Shows the room, or says why it is not shown.
        case show(Result<RoomView, RoomFailure>, to: Viewer)
        /// Reads a part of the log, and calls ``read(_:_:for:in:_:)``.
        case read(MissedEvents, for: SubscriptionRequest)
        /// Encodes a state, and calls ``encoded(_:by:in:)``.
        case encode(EncodingJob)
    }

    /// A question that waits for a state to be encoded.
    private enum Question {
        case follow(SubscriptionRequest, attempts: Int)
        case look(SessionID, isVerified: Bool, Viewer)
    }

    private var subscriptions: SubscriptionAnswers
    private var states: StateEncoder<Question>
    /// The newest encoding, while it is given to those who wait.
    private var served: (job: EncodingJob, state: EncodedState)?
    /// Questions that are answered without a state.
    private var givenUp: [Question] = []
    private let clock: ServerClock

    init(recent: RecentEvents, _ dependencies: Dependencies) {
        subscriptions = SubscriptionAnswers(recent: recent, settings: dependencies.settings)
        states = StateEncoder(settings: dependencies.settings, metrics: dependencies.metrics)
        clock = dependencies.clock
    }

    /// Whether nobody waits for a state.
    var isIdle: Bool { states.isIdle }

    // MARK: The room

    /// Keeps durable events that follow the last one, and removes what they no longer show to anybody.
    mutating func add(_ events: [RecordedEvent], _ redaction: Redaction) {
        if !events.isEmpty { states.outdate() }
        subscriptions.add(events, redaction)
    }

    /// Keeps these newest events, those of the log that replaces the present one.
    mutating func loaded(_ recent: RecentEvents) { subscriptions.replaced(recent: recent) }

    /// The newest durable events.
    var recent: RecentEvents { subscriptions.recent }

    /// The room is that of another log from now on.
    mutating func replaced() { states.replaced() }

    // MARK: Questions

    /// Whether the room has to look at its log before it answers (``answer(_:in:_:at:)``).
    func mustVerify(_ request: SubscriptionRequest, in writer: borrowing RoomWriter, isFollowed: Bool) -> Bool {
        subscriptions.mustVerify(request, in: writer, isFollowed: isFollowed)
    }

    /// Answers a request to follow the room, once the room has looked at its log if it must.
    mutating func answer(
        _ request: SubscriptionRequest, in writer: borrowing RoomWriter, _ following: inout RoomFollowing,
        at now: NIODeadline
    ) -> [Step] {
        var request = request
        request.isVerified = writer.condition == .current
        let way = subscriptions.way(for: request, in: writer, at: clock.now)
        if case .refuse(let failure) = way { return refuse(request, failure) }
        let joined = following.join(request, in: writer, at: now)
        return [.follow(joined)] + steps(on: way, for: request, in: writer, &following)
    }

    /// A part of the log was read, or cannot be.
    mutating func read(
        _ part: MissedEvents, _ events: [RecordedEvent]?, for request: SubscriptionRequest,
        in writer: borrowing RoomWriter, _ following: inout RoomFollowing
    ) -> [Step] {
        let way = subscriptions.way(
            for: request, after: part, events, follows: following.follows(request.connection), in: writer,
            at: clock.now)
        return steps(on: way, for: request, in: writer, &following)
    }

    /// Shows the room as `session` sees it, at a durable position that is not before the present one.
    mutating func look(
        for session: SessionID, in writer: borrowing RoomWriter, _ following: inout RoomFollowing,
        _ viewer: @escaping Viewer
    ) -> [Step] {
        let question = Question.look(session, isVerified: writer.condition == .current, viewer)
        let state = states.state(of: writer.confirmed, compressed: false, for: question, of: nil)
        guard let state else { return encode(writer) }
        return answer(question, with: state, in: writer, &following)
    }

    // MARK: States

    /// A state was encoded; nil if that work was refused.
    ///
    /// ``next(in:_:)`` is called after that until it returns nil.
    mutating func encoded(_ state: EncodedState?, by job: EncodingJob, in writer: borrowing RoomWriter) {
        guard let state, writer.condition != .forgotten else {
            givenUp += states.giveUp()
            return
        }
        if states.ended(job, with: state, now: writer.confirmed, in: writer.epoch) { served = (job, state) }
    }

    /// Answers the next question that waited for the state, or begins another encoding; nil if nothing is to be done.
    ///
    /// The steps of each answer are taken before the next one is made, because they may bring new questions.
    mutating func next(in writer: borrowing RoomWriter, _ following: inout RoomFollowing) -> [Step]? {
        if !givenUp.isEmpty { return answer(givenUp.removeFirst(), with: nil, in: writer, &following) }
        if let (job, state) = served {
            if let question = states.next(of: job, state) {
                return answer(question, with: state, in: writer, &following)
            }
            served = nil
        }
        let steps = encode(writer)
        return steps.isEmpty ? nil : steps
    }

    private mutating func encode(_ writer: borrowing RoomWriter) -> [Step] {
        states.begin(writer.confirmed, in: writer.epoch).map { [.encode($0)] } ?? []
    }

    private mutating func answer(
        _ question: Question, with state: EncodedState?, in writer: borrowing RoomWriter,
        _ following: inout RoomFollowing
    ) -> [Step] {
        switch question {
        case .follow(let request, let attempts):
            let way = subscriptions.way(
                for: request, with: state, attempts: attempts, follows: following.follows(request.connection),
                in: writer, at: clock.now)
            return steps(on: way, for: request, in: writer, &following)
        case .look(let session, let isVerified, let viewer):
            let view = view(state, for: session, in: writer, keyed: isVerified ? writer.version.keyed : nil, following)
            return [.show(view, to: viewer)]
        }
    }

    private mutating func steps(
        on way: SubscriptionAnswers.Way, for request: SubscriptionRequest, in writer: borrowing RoomWriter,
        _ following: inout RoomFollowing
    ) -> [Step] {
        switch way {
        case .refuse(let failure): return refuse(request, failure)
        case .read(let part): return [.read(part, for: request)]
        case .encode(let attempts):
            let question = Question.follow(request, attempts: attempts)
            let state = states.state(
                of: writer.confirmed, compressed: request.takesCompressed, for: question, of: request.connection)
            guard let state else { return encode(writer) }
            return answer(question, with: state, in: writer, &following)
        case .resume(after: let seq, with: let events):
            let told = request.wish.isRest ? nil : following.told(to: request.connection)
            return give(subscriptions.resumed(request, after: seq, with: events, in: writer, told), to: request)
        case .begin(let state):
            let told = following.told(to: request.connection)
            return give(subscriptions.begun(request, with: state, in: writer, told, at: clock.now), to: request)
        }
    }

    private mutating func give(_ subscription: Subscription, to request: SubscriptionRequest) -> [Step] {
        states.given(subscription.seq, to: request.connection)
        return [.tell(.subscribed(subscription), request.feed)]
    }

    private func refuse(_ request: SubscriptionRequest, _ failure: RoomFailure) -> [Step] {
        [.tell(.refused(RefusedSubscription(request, failure)), request.feed)]
    }

    private func view(
        _ state: EncodedState?, for session: SessionID, in writer: borrowing RoomWriter, keyed: Int?,
        _ following: borrowing RoomFollowing
    ) -> Result<RoomView, RoomFailure> {
        if writer.condition == .forgotten { return .failure(.noSuchRoom) }
        let now = clock.now
        if let refusal = writer.confirmed.refusal(of: session, at: now) { return .failure(.refused(refusal)) }
        guard let state else { return .failure(.unavailable) }
        return .success(
            RoomView(
                room: writer.confirmed.id, epoch: writer.epoch, seq: state.shared.seq, keyed: keyed, time: now,
                state: state.shared, you: YouJSON.encode(state.room, session), presence: following.currentPresence))
    }
}
