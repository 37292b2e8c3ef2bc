import RoomDomain
import RoomReplica
import RoomWire
import Synchronization

/// The life of the client: the steps of the machine, one after the other.
extension ClientEngine {
    /// Connects and stays connected until the task is cancelled or the session is over.
    func run() async throws(ClientError) {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { throw ClientError(.misuse, "the client runs already") }
        defer { state.withLock { $0.isRunning = false } }
        try await load()
        let end = await withDiscardingTaskGroup(returning: ClientError?.self) { group in
            group.addTask { await self.deliverAll() }
            // Rooms that are followed already are loaded first: the first connection resumes from them.
            while let work = nextWork() { await keepOnly(work) }
            input { $0.start(at: $1) }
            let end = await carryOut(in: &group)
            group.cancelAll()
            // Its own task, because this one may be cancelled: everything is kept that was not.
            await Task { await self.finish() }.value
            return end
        }
        await deliver()
        guard let end else { return }
        if end.code == .unauthorized { try? await session.forget() }
        throw end
    }

    private func load() async throws(ClientError) {
        guard state.withLock({ $0.machine == nil }) else { return }
        do {
            let stored = try await store.load()
            await session.begin(with: stored.token)
            begin(with: stored)
        } catch {
            throw ClientError(.store, "what was kept on the device cannot be read", cause: error)
        }
    }

    /// Carries out what waits, until the task is cancelled or the session is over.
    private func carryOut(in group: inout DiscardingTaskGroup) async -> ClientError? {
        repeat {
            while let work = nextWork() {
                if case .end(let error) = work { return error }
                await carryOut(work, in: &group)
            }
        } while await work.wait()
        return nil
    }

    /// Stops, and keeps what was not kept.
    private func finish() async {
        input { $0.stop(at: $1) }
        while let work = nextWork() { await keepOnly(work) }
    }

    private func nextWork() -> Work? {
        state.withLock { $0.work.isEmpty ? nil : $0.work.removeFirst() }
    }

    private func carryOut(_ work: Work, in group: inout DiscardingTaskGroup) async {
        switch work {
        case .step(.connect(let attempt, let wait, let path)):
            let connection = Connection(attempt: attempt, path: path)
            let earlier = state.withLock { state in
                defer { state.link.connection = connection }
                return state.link.connection
            }
            earlier?.close(1_001)
            group.addTask { await connection.run(after: .milliseconds(wait), for: self) }
        case .step(.wake(let at)):
            let timer = at.map { _ in CancellableChild() }
            let earlier = state.withLock { state in
                defer { state.link.timer = timer }
                return state.link.timer
            }
            earlier?.cancel()
            guard let timer, let at else { return }
            group.addTask {
                await timer.run {
                    guard (try? await self.clock.sleep(until: .nanoseconds(at.nanoseconds))) != nil else { return }
                    self.input { $0.woken(at: $1) }
                }
            }
        default: await keepOnly(work)
        }
    }

    /// Carries out what begins nothing.
    private func keepOnly(_ work: Work) async {
        switch work {
        case .step(.send(let bytes)): state.withLock { $0.link.connection }?.send(bytes)
        case .step(.close(let attempt, let code)):
            let connection = state.withLock { $0.link.connection }
            if connection?.attempt == attempt { connection?.close(code) }
        case .step(.keep(let kept)): await keep(kept)
        case .step(.wake), .step(.connect): break
        case .step(.changed), .step(.phase), .step(.answered), .step(.reaction), .step(.signal), .step(.told),
            .step(.nearby), .step(.nearbyEnded), .step(.deckAnswered), .step(.deckEnded), .step(.ended), .end:
            break
        case .follow(let reference): await follow(reference)
        case .barrier(let promise): promise.fulfil(.success(()))
        }
    }

    private func keep(_ kept: ClientStep.Kept) async {
        do {
            switch kept {
            case .room(let reference, let room): try await store.save(StoredRoom(room), of: RoomReference(reference))
            case .command(let command): try await store.put(StoredCommand(command))
            case .answered(let number): try await store.removeCommand(number.rawValue)
            }
        } catch {
            let fault = ClientError(.store, "something could not be kept on the device", cause: error)
            state.withLock { $0.link.storeFault = fault }
        }
    }

    /// Loads a room, and follows it from there, if somebody still does.
    private func follow(_ reference: RoomWire.RoomReference) async {
        let stored = try? await store.room(RoomReference(reference))
        let room = stored.flatMap { RoomReplica.StoredRoom($0) }
        call { state, now in
            guard state.holders[reference] != nil else { return [] }
            return state.machine?.follow(reference, stored: room, at: now) ?? []
        }
    }

    // MARK: The main actor

    private func deliverAll() async {
        repeat { await deliver() } while await deliveries.wait()
    }

    /// Whether as much waits for the main actor as may.
    var isBehind: Bool { state.withLock { $0.deliveries.count >= Self.mostDeliveries } }

    /// Gives the main actor what waits for it.
    @MainActor func deliver() {
        while true {
            let batch = state.withLock { state in
                defer { state.deliveries = [] }
                return state.deliveries
            }
            guard !batch.isEmpty else { return }
            for delivery in batch { apply(delivery) }
        }
    }

    @MainActor private func apply(_ delivery: Delivery) {
        func room(_ reference: RoomWire.RoomReference) -> Room? { state.withLock { $0.holders[reference]?.room.room } }
        switch delivery {
        case .reset(let reference, let contents): room(reference)?.take(contents)
        case .changed(let reference, let changes, let position): room(reference)?.take(changes, position)
        case .phase(let reference, let phase, let at): room(reference)?.take(phase, at: at)
        case .pending(let reference, let commands): room(reference)?.take(commands)
        case .reaction(let reference, let reaction): room(reference)?.take(reaction)
        case .signal(let reference, let signal): room(reference)?.take(signal)
        case .deckAnswered(let reference, let key, let answer): room(reference)?.deckAnswered(key, answer)
        case .deckEnded(let reference, let error): room(reference)?.deckEnded(error)
        case .nearby(let number, let rooms): state.withLock { $0.circles[number]?.rooms }?.take(rooms)
        case .nearbyEnded(let number, let error): state.withLock { $0.circles[number]?.rooms }?.ended(error)
        }
    }
}
