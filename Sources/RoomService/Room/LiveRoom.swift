import EventStorage
package import NIOCore
package import RoomDomain
package import RoomWire

/// A room in memory: the only writer of its log in this process, bound to one event loop.
///
/// It decides nothing: it takes its parts' steps in order, and brings them what the log, others and the clock tell.
package actor LiveRoom {
    package nonisolated let id: RoomID
    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    // The executor lives as long as the actor, which holds it.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let dependencies: Dependencies
    /// The loop's work that is done in turns.
    private let turns: LoopTurns
    /// What is decided, and when it is shown.
    private var writer: RoomWriter
    private var steps = StepQueue<RoomWriter.Step>()
    private var requests = PendingRequests()
    private let decider: CommandDecider
    private var appends = AppendsUnderWay()
    private var following: RoomFollowing
    private var alarms: LoopAlarms<RoomAlarm>
    private var answers: RoomAnswers
    private var snapshots: SnapshotKeeper
    /// The time of the last request to the room.
    private var lastUse: NIODeadline

    init(_ loaded: DecodedRoom, turns: LoopTurns, dependencies: Dependencies) {
        let settings = dependencies.settings
        self.id = loaded.state.id
        self.turns = turns
        self.loop = turns.loop
        self.executor = loop.executor
        self.dependencies = dependencies
        self.writer = RoomWriter(loaded, limits: .init(settings, isCounting: dependencies.counting != nil))
        self.decider = CommandDecider(of: id, settings: settings, shares: dependencies.shares)
        self.following = RoomFollowing(of: id, dependencies)
        self.alarms = LoopAlarms(on: loop)
        self.answers = RoomAnswers(recent: loaded.recent, dependencies)
        self.snapshots = SnapshotKeeper(at: loaded.snapshotSeq, settings: settings)
        self.lastUse = loop.now
    }

    /// The durable state, which is all that anybody sees.
    var confirmed: RoomState { _read { yield writer.confirmed } }

    /// The room's epoch and last durable event.
    package var position: Position { Position(epoch: writer.epoch, seq: writer.confirmed.seq) }

    /// Whether the room's log no longer exists.
    var isForgotten: Bool { writer.condition == .forgotten }

    /// Whether it has followers, or members in their grace period.
    var isFollowed: Bool { following.isFollowed }

    /// The reason for which a session may not look at the room, which is a ban; nil if it may.
    package func refusal(of session: SessionID) -> RoomRefusal? {
        writer.confirmed.refusal(of: session, at: dependencies.clock.now)
    }

    /// Records a request, which keeps the room in memory for a while.
    func noteUse() { lastUse = loop.now }

    /// Prepares the room to leave memory, and returns whether it may: it has no followers, nothing is under way, and it
    /// was not used for `idle`.
    func leaveMemory(idle: TimeAmount) -> Bool {
        let isIdle = !isFollowed && writer.isIdle && answers.isIdle && !requests.isQueued && lastUse + idle < loop.now
        guard isIdle else { return false }
        save(snapshots.begin(writer))
        alarms.drop(.owner)
        return true
    }

    // MARK: Commands

    /// Decides a command, and answers it when the log has confirmed the answer.
    ///
    /// Refusals and commands that change nothing are confirmed as well: no answer rests on a state that is not the log's.
    package func submit(_ request: CommandRequest) {
        noteUse()
        switch requests.add(request) {
        case .decide(let number): run(writer.submit(number))
        case .askForTurns: turns.assumeIsolated { $0.add { self.assumeIsolated { $0.takeTurn() } } }
        case .wait: break
        case .refuse: request.reply(.failed(.unavailable))
        }
    }

    /// Decides the next commands in line; returns whether there are others.
    private func takeTurn() -> Bool {
        var items = 0
        while let number = requests.next(&items) { run(writer.submit(number)) }
        return requests.isQueued
    }

    private func decision(of number: RoomWriter.RequestID) -> RoomWriter.Decision {
        requests.decide(number) { decider.decide(&$0, in: writer, following.sight(for: $0.command, at: loop.now)) }
    }

    // MARK: The machine's steps

    private func run(_ new: [RoomWriter.Step]) {
        guard steps.add(new) else { return }
        while let step = steps.next() { take(step) }
    }

    private func take(_ step: RoomWriter.Step) {
        switch step {
        case .decide(let number): run(writer.decided(number, decision(of: number)))
        case .flushSoon: loop.execute { self.assumeIsolated { $0.run($0.writer.flush()) } }
        case .append(let append, let commands):
            dependencies.groupCommit.submit(append, commands: commands, to: queueOfAppends())
        case .overtake: appends.overtake()
        case .read: work.read(after: writer.version) { result in self.assumeIsolated { $0.found(result) } }
        case .load: work.load { new in self.assumeIsolated { $0.loaded(new) } }
        case .renew: work.renew(writer.epoch, answers.recent) { new in self.assumeIsolated { $0.loaded(new) } }
        case .fellBehind: catchUp()
        case .count:
            dependencies.counting?.enlist(.init(id: id, loop: loop) { self.assumeIsolated { $0.writer.takeTally() } })
        case .show(let events, let redaction): show(events, redaction)
        case .announce(let seq): dependencies.bus?.tell(id, movedTo: seq)
        case .reply(let number, let outcome): requests.takeCommand(number)?.reply(outcome)
        case .verified(let numbers): for number in numbers { requests.takeVerification(number)?() }
        case .settle: run(writer.settle())
        case .begin:
            answers.replaced()
            take(following.replaced(by: writer))
            take(following.reviewAll(in: writer, at: loop.now))
        case .forget: take(following.forgotten(writer, at: loop.now))
        }
    }

    private func queueOfAppends() -> AppendQueue {
        if let queue = appends.queue { return queue }
        // The queue keeps the room alive while the room keeps the queue, which is until nothing is handed over.
        let queue = AppendQueue { [loop] queue, report in
            loop.execute { self.assumeIsolated { $0.written(report, of: queue) } }
        }
        return appends.begin(queue, at: loop.now)
    }

    private func written(_ report: AppendQueue.Report, of queue: AppendQueue) {
        guard appends.has(queue) else { return }
        if case .durable = report { appends.letOthersIn(at: loop.now, hasPeers: dependencies.presence.hasPeers) }
        let steps = writer.written(report)
        if !writer.hasHandedOver { appends.end() }
        run(steps)
    }

    /// Shows durable events to all followers, and nobody what the redaction removes.
    private func show(_ events: [RecordedEvent], _ redaction: Redaction) {
        let concerned = following.members(concernedBy: events, in: writer)
        answers.add(events, redaction)
        take(following.publish(events))
        take(following.review(concerned, in: writer, at: loop.now))
        save(snapshots.beginIfDue(writer))
    }

    // MARK: The log

    private var work: OffLoopWork { OffLoopWork(of: id, on: loop, dependencies) }

    private func found(_ result: BatchedReads.Outcome) { run(writer.read(result, logger: dependencies.logger)) }

    /// The whole room was loaded again; its followers and waiting requests stay.
    private func loaded(_ result: Result<DecodedRoom, RoomFailure>) {
        if case .success(let room) = result {
            answers.loaded(room.recent)
            snapshots.replaced(at: room.snapshotSeq)
        }
        run(writer.read(RoomWriter.Reading(of: result)))
    }

    /// Records that another server has appended events up to `seq`.
    func hear(_ seq: Int) { run(writer.hear(seq)) }

    /// Reads the events that the room lacks, if it has followers; otherwise they are read when the room is used.
    func catchUp() { if isFollowed { run(writer.catchUp()) } }

    /// Reads the log if its head differs from this room's position, or if an earlier read failed.
    func compare(with head: StreamHead) { run(writer.compare(with: head)) }

    /// Reads the log, whatever is known of it, once the work under way has ended.
    func readAgain() { whenRead {} }

    /// Calls `done`, on the room's loop, when `confirmed` has all events that were durable at the time of this call, or
    /// when the log is out of reach, so that the room shows its own state.
    package func verify(_ done: @escaping @Sendable () -> Void) {
        noteUse()
        if writer.condition == .current, !dependencies.settings.logIsShared { return done() }
        whenRead(done)
    }

    /// Calls `done` after the next read or append, even if no other server has access to the log.
    private func whenRead(_ done: @escaping @Sendable () -> Void) { run(writer.verify(requests.add(done))) }

    private func save(_ snapshot: SnapshotKeeper.Job?) {
        if let snapshot { work.save(snapshot) { self.assumeIsolated { $0.snapshots.ended() } } }
    }

    // MARK: Followers

    private func take(_ steps: [FollowingStep]) {
        for step in steps {
            switch step {
            case .tell(let news, let feeds): feeds.tell(news)
            case .set(let alarm, at: let time):
                alarms.set(alarm, at: time) { [weak self] number in self?.assumeIsolated { $0.rang(alarm, number) } }
            case .drop(let alarm): alarms.drop(alarm)
            case .submit(let command): submit(CommandRequest(actor: .server, key: nil, command: command) { _ in })
            case .relay(let notice, to: let server): dependencies.bus?.tell(notice, to: server)
            case .observe:
                dependencies.observed?.enlist(id, on: loop) { self.assumeIsolated { $0.following.takeObserved() } }
            }
        }
    }

    private func rang(_ alarm: RoomAlarm, _ number: Int) {
        guard alarms.rang(alarm, number) else { return }
        take(following.rang(alarm, in: writer, at: loop.now))
    }

    /// Begins to know who is online: once, when the room was loaded.
    func beginFollowing() { take(following.begin(in: writer, at: loop.now)) }

    /// Another server has reported something of the room's members.
    func heard(_ report: PeerReport) { take(following.heard(report, in: writer, at: loop.now)) }

    /// Does what a member asks for, or refuses it; `reply` is called once, on the room's loop.
    ///
    /// A room that refuses may lack the newest events, and then tries once more when it has them.
    package func perform(
        _ request: EphemeralRequest, by session: SessionID, _ reply: @escaping @Sendable (EphemeralOutcome) -> Void
    ) {
        noteUse()
        let outcome = attempt(request, by: session)
        let mayLackEvents = dependencies.settings.logIsShared || writer.condition != .current || writer.isWriting
        guard outcome.isRefused, mayLackEvents else { return reply(outcome) }
        whenRead { self.assumeIsolated { reply($0.attempt(request, by: session)) } }
    }

    private func attempt(_ request: EphemeralRequest, by session: SessionID) -> EphemeralOutcome {
        let (outcome, steps) = following.perform(request, by: session, in: writer, at: loop.now)
        take(steps)
        return outcome
    }

    // MARK: Questions

    /// Lets a connection follow the room: from its own position if that is possible, otherwise from a snapshot.
    ///
    /// The answer reaches the feed before any later delta: its messages end where the deltas begin.
    package func subscribe(_ request: SubscriptionRequest) {
        noteUse()
        let answer = { @Sendable in
            self.assumeIsolated { $0.take($0.answers.answer(request, in: $0.writer, &$0.following, at: $0.loop.now)) }
        }
        if answers.mustVerify(request, in: writer, isFollowed: isFollowed) { verify(answer) } else { answer() }
    }

    /// Ends a connection's subscription; does nothing if there is none.
    package func unsubscribe(_ connection: ConnectionID, because end: SubscriptionEnd) {
        noteUse()
        take(following.leave(connection, because: end, in: writer, at: loop.now))
    }

    /// Calls `viewer`, on the room's loop, with the room as `session` sees it, at a durable position that is not before
    /// the present one.
    package func look(for session: SessionID, _ viewer: @escaping RoomAnswers.Viewer) {
        noteUse()
        take(answers.look(for: session, in: writer, &following, viewer))
    }

    private func take(_ steps: [RoomAnswers.Step]) {
        for step in steps {
            switch step {
            case .follow(let steps): take(steps)
            case .tell(let news, let feed): feed.tell(news)
            case .show(let view, to: let viewer): viewer(view)
            case .read(let part, for: let request):
                work.read(part, for: request.asker) { events in
                    self.assumeIsolated {
                        $0.take($0.answers.read(part, events, for: request, in: $0.writer, &$0.following))
                    }
                }
            case .encode(let job):
                work.encode(job) { state in self.assumeIsolated { $0.encoded(state, by: job) } }
            }
        }
    }

    private func encoded(_ state: EncodedState?, by job: EncodingJob) {
        answers.encoded(state, by: job, in: writer)
        while let steps = answers.next(in: writer, &following) { take(steps) }
    }
}
