import RoomDomain
import RoomReplica
import RoomWire
import Synchronization

/// What apps ask for.
extension ClientEngine {
    /// The object of a room: the one that somebody holds, or a new one.
    @MainActor func room(_ reference: RoomWire.RoomReference) -> Room {
        deliver()
        if let room = state.withLock({ $0.holders[reference]?.room.room }) { return room }
        let room = Room(RoomReference(reference), self)
        hold(reference) { state in
            state.holders[reference]?.room = WeakRoom(room: room)
            state.holders[reference]?.pending = []
            guard let known = state.machine?.room(reference) else { return }
            if let contents = RoomContents(known) { state.deliveries.append(.reset(reference, contents)) }
            state.deliveries.append(.phase(reference, known.phase, at: self.serverTime(state)))
        }
        deliver()
        return room
    }

    /// A follower of a room.
    func follow(_ reference: RoomWire.RoomReference) -> RoomFollower {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let follower = RoomFollower { [weak self] in
            guard let self else { return }
            self.state.withLock { $0.holders[reference]?.followers[number] = nil }
            self.release(reference)
        }
        hold(reference) { state in
            state.holders[reference]?.followers[number] = WeakFollower(follower: follower)
            guard let position = state.machine?.room(reference)?.replica?.position else { return }
            follower.push(.reset(Position(position)))
        }
        return follower
    }

    /// Somebody holds a room from now on.
    private func hold(_ reference: RoomWire.RoomReference, _ body: (inout State) -> Void) {
        state.withLock { state in
            let isFirst = state.holders[reference] == nil
            state.holders[reference, default: Holders()].count += 1
            body(&state)
            if isFirst { state.work.append(.follow(reference)) }
        }
        work.ring()
    }

    /// Somebody holds a room no more.
    func release(_ reference: RoomWire.RoomReference) {
        let isLast = state.withLock { state in
            state.holders[reference]?.count -= 1
            guard state.holders[reference]?.count == 0 else { return false }
            state.holders[reference] = nil
            return true
        }
        if isLast {
            call { state, now in
                guard state.holders[reference] == nil else { return [] }
                return state.machine?.unfollow(reference, at: now) ?? []
            }
        }
    }

    /// Gives a command to a room.
    func post(
        _ command: Command, to reference: RoomWire.RoomReference, key: CommandKey, isKept: Bool
    ) -> Promise<Receipt> {
        let promise = Promise<Receipt>()
        call { state, now in
            guard var machine = state.machine.take() else { return [] }
            let posted = machine.post(
                command.domain, to: reference, key: key.description, isKept: isKept, at: now)
            state.machine = machine
            state.promises[posted.number] = promise
            return posted.steps
        }
        return promise
    }

    /// Gives something to a room that wants an answer and is not logged.
    func tell(
        _ body: @escaping @Sendable (inout ClientMachine, ClientMoment) -> (number: TellingNumber, steps: [ClientStep])
    ) -> Promise<Void> {
        let promise = Promise<Void>()
        call { state, now in
            guard var machine = state.machine.take() else { return [] }
            let told = body(&machine, now)
            state.machine = machine
            state.tellings[told.number] = promise
            return told.steps
        }
        return promise
    }

    /// Watches a circle.
    @MainActor func watch(_ circle: Circle) -> NearbyRooms {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let rooms = NearbyRooms(circle, number: number, self)
        if let violation = circle.violation {
            rooms.ended(violation)
            return rooms
        }
        state.withLock { $0.circles[number] = WeakCircle(rooms: rooms) }
        let query = circle.query
        call { state, now in state.machine?.watch(number, query, at: now) ?? [] }
        return rooms
    }

    /// Watches a circle no more.
    func unwatch(_ number: Int) {
        state.withLock { $0.circles[number] = nil }
        call { state, now in state.machine?.unwatch(number, at: now) ?? [] }
    }

    /// Saves, closes, and sets no timer; returns when that is done.
    func suspend() async {
        input { $0.suspend(at: $1) }
        let promise = Promise<Void>()
        let isRunning = state.withLock { state in
            if state.isRunning { state.work.append(.barrier(promise)) }
            return state.isRunning
        }
        if isRunning {
            work.ring()
            try? await promise.value()
        }
        await deliver()
    }
}
