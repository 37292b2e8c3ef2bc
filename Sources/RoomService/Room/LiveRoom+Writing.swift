import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomLog

/// What the machine of decisions asks for: appends, reads, answers.
extension LiveRoom {
    /// Takes steps in order; those that they cause come after them.
    func run(_ steps: [RoomWriter.Step]) {
        self.steps.append(contentsOf: steps)
        guard !isStepping else { return }
        isStepping = true
        defer { isStepping = false }
        while let step = self.steps.popFirst() { take(step) }
    }

    private func take(_ step: RoomWriter.Step) {
        switch step {
        case .decide(let request): run(writer.decided(request, decision(of: request)))
        case .flushSoon: loop.execute { self.assumeIsolated { $0.run($0.writer.flush()) } }
        case .append(let append, let commands):
            dependencies.groupCommit.submit(append, commands: commands, to: currentQueue())
        case .overtake: appendQueue?.overtake()
        case .read: read()
        case .load: loadAnew()
        case .fellBehind: catchUp()
        case .show(let events, let redaction): show(events, redaction)
        case .announce(let seq): dependencies.bus?.tell(id, movedTo: seq)
        case .reply(let request, let outcome): requests.removeValue(forKey: request)?.reply(outcome)
        case .verified(let requests): for request in requests { verifications.removeValue(forKey: request)?() }
        case .settle: run(writer.settle())
        case .begin: begin()
        case .forget: forget()
        }
    }

    // MARK: Appending

    private func currentQueue() -> AppendQueue {
        if let appendQueue { return appendQueue }
        let loop = loop
        // The queue keeps the room alive while the room keeps the queue, which is until nothing is handed over.
        let queue = AppendQueue { queue, report in
            loop.execute { self.assumeIsolated { $0.written(report, of: queue) } }
        }
        self.appendQueue = queue
        busySince = loop.now
        return queue
    }

    private func written(_ report: AppendQueue.Report, of queue: AppendQueue) {
        guard self.appendQueue === queue else { return }
        let steps: [RoomWriter.Step]
        switch report {
        case .durable(let parts):
            letOthersIn(behind: queue)
            steps = writer.appended(parts)
            if writer.hasHandedOver { return run(steps) }
        case .overtaken: steps = writer.overtaken()
        case .failed(let fault, let underWay): steps = writer.failed(fault, underWay: underWay)
        }
        appendQueue = nil
        run(steps)
    }

    /// Pauses the queue now and then if there are other servers.
    ///
    /// A server that has lost the race against this room's appends would lose again for as long as these follow each
    /// other without a gap.
    private func letOthersIn(behind queue: AppendQueue) {
        let now = loop.now
        guard now - busySince > Self.busyTime, dependencies.presence.hasPeers else { return }
        busySince = now
        queue.rest()
    }

    /// The time for which appends follow each other without a pause, if there are other servers.
    private static let busyTime = TimeAmount.milliseconds(30)

    // MARK: Reading

    private func read() {
        let loop = loop
        dependencies.batchedReads.read(id.uuid, after: writer.version) { result in
            loop.execute { self.assumeIsolated { $0.run($0.writer.read($0.reading(of: result))) } }
        }
    }

    private func reading(of result: BatchedReads.Outcome) -> RoomWriter.Reading {
        switch result {
        case .success(let loaded?) where loaded.head.epoch == writer.epoch:
            do throws(LogFault) {
                let version = loaded.head.version
                let events = try loaded.events.recorded(after: writer.version.seq, through: version.seq)
                return .events(events, keys: loaded.keys, version: version)
            } catch {
                dependencies.logger.error(
                    "A room's log cannot be read", metadata: ["room": "\(id)", "fault": "\(error)"])
                return .failed(.internalFault)
            }
        case .success(.some): return .replaced
        case .success(nil): return .gone
        case .failure(let fault):
            dependencies.logger.debug("A room could not be read", metadata: ["room": "\(id)", "fault": "\(fault)"])
            return .failed(.unavailable)
        }
    }

    /// Records that another server has appended events up to `seq`.
    func hear(_ seq: Int) { run(writer.hear(seq)) }

    /// Reads the events that the room lacks, if it has followers; otherwise they are read when the room is used.
    func catchUp() {
        if isFollowed { run(writer.catchUp()) }
    }

    /// Reads the log if its head differs from this room's position, or if an earlier read failed.
    func compare(with head: StreamHead) { run(writer.compare(with: head)) }

    /// Reads the log, whatever is known of it, once the work under way has ended.
    func readAgain() { whenRead {} }

    // MARK: Verifying

    /// Calls `done`, on the room's loop, when the room is known to be at its log's head, or when the log is out of
    /// reach, so that the room shows its own state.
    ///
    /// Events that were durable at the time of this call are in `confirmed` when `done` is called. Requests that arrive
    /// during a read or an append share the next one.
    package func verify(_ done: @escaping @Sendable () -> Void) {
        lastUse = loop.now
        if writer.condition == .current, !dependencies.settings.logIsShared { return done() }
        whenRead(done)
    }

    /// Calls `done` after the next read or append, even if no other server has access to the log.
    func whenRead(_ done: @escaping @Sendable () -> Void) {
        let request = nextNumber()
        verifications[request] = done
        run(writer.verify(request))
    }
}
