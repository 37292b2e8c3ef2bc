import RoomDomain
import RoomReplica
import RoomWire
import Synchronization

extension ClientEngine {
    /// What tasks that wait are told, once the lock is free.
    struct Answers {
        var commands: [(Promise<Receipt>, Result<Receipt, ClientError>)] = []
        var tellings: [(Promise<Void>, Result<Void, ClientError>)] = []
        /// Rooms and followers that were looked at under the lock, and are let go after it: the end of the last reference
        /// to one takes the lock again.
        var looked: [any Sendable] = []

        static func += (left: inout Answers, right: Answers) {
            left.commands += right.commands
            left.tellings += right.tellings
            left.looked += right.looked
        }
    }

    /// Tells them, and wakes those who carry steps out.
    func tell(_ answers: Answers) {
        for (promise, result) in answers.commands { promise.fulfil(result) }
        for (promise, result) in answers.tellings { promise.fulfil(result) }
        work.ring()
        deliveries.ring()
    }

    /// Puts steps where they are carried out.
    func settle(_ steps: [ClientStep], _ state: inout State) -> Answers {
        var answers = Answers()
        for step in steps {
            switch step {
            case .connect, .close, .send, .wake, .keep: state.work.append(.step(step))
            case .changed(let room, let changes): settle(changes, of: room, &state, &answers)
            case .phase(let room, let phase): settle(phase, of: room, &state, &answers)
            case .answered(let number, let answer):
                let promise = state.promises.removeValue(forKey: number)
                guard let promise else { continue }
                answers.commands.append((promise, Self.result(of: answer)))
            case .told(let number, let refusal):
                guard let promise = state.tellings.removeValue(forKey: number) else { continue }
                answers.tellings.append((promise, refusal.map { .failure(ClientError($0)) } ?? .success(())))
            case .reaction(let room, let from, let emoji):
                guard isHeld(room, state, &answers) else { continue }
                state.deliveries.append(.reaction(room, Reaction(from: MemberID(from), emoji: emoji)))
            case .signal(let room, let from, let data):
                guard isHeld(room, state, &answers) else { continue }
                state.deliveries.append(.signal(room, Signal(from: MemberID(from), json: data.text)))
            case .nearby(let watch, let rooms):
                state.deliveries.append(.nearby(watch, rooms.map { RoomSummary($0) }))
            case .nearbyEnded(let watch, let code):
                let end = Refusal(code, "the circle is not watched any more")
                state.deliveries.append(.nearbyEnded(watch, ClientError(end)))
            case .deckAnswered(let room, let key, let answer):
                let result = Self.result(of: answer).map(\.sequence)
                state.deliveries.append(.deckAnswered(room, key: key, result))
            case .deckEnded(let room, let code):
                state.deliveries.append(.deckEnded(room, ClientError(Refusal(code, "the deck leads the room no more"))))
            case .ended(let refusal): state.work.append(.end(ClientError(refusal)))
            }
        }
        tellPending(&state, &answers)
        return answers
    }

    /// Whether somebody holds the object of a room.
    private func isHeld(
        _ reference: RoomWire.RoomReference, _ state: borrowing State, _ answers: inout Answers
    ) -> Bool {
        guard let room = state.holders[reference]?.room.room else { return false }
        answers.looked.append(room)
        return true
    }

    /// Tells the followers of a room.
    private func push(_ update: RoomUpdate, to holders: Holders, _ answers: inout Answers) {
        for weak in holders.followers.values {
            guard let follower = weak.follower else { continue }
            answers.looked.append(follower)
            follower.push(update)
        }
    }

    private func settle(
        _ changes: [RoomReplica.RoomChange], of reference: RoomWire.RoomReference, _ state: inout State,
        _ answers: inout Answers
    ) {
        guard let holders = state.holders[reference], let room = state.machine?.room(reference),
            let position = room.replica?.position
        else { return }
        let isReset = changes.contains(.reset)
        if isHeld(reference, state, &answers) {
            if !isReset {
                state.deliveries.append(.changed(reference, changes, position))
            } else if let contents = RoomContents(room) {
                state.deliveries.append(.reset(reference, contents))
            }
        }
        guard !holders.followers.isEmpty else { return }
        let shown = Position(position)
        let update: RoomUpdate =
            isReset ? .reset(shown) : .changed(changes.compactMap { RoomChange($0) }, through: shown)
        push(update, to: holders, &answers)
    }

    private func settle(
        _ phase: Following.Phase, of reference: RoomWire.RoomReference, _ state: inout State, _ answers: inout Answers
    ) {
        guard let holders = state.holders[reference] else { return }
        if isHeld(reference, state, &answers) {
            state.deliveries.append(.phase(reference, phase, at: serverTime(state)))
        }
        switch phase {
        case .offline: push(.offline, to: holders, &answers)
        case .ended(let refusal): push(.ended(ClientError(refusal)), to: holders, &answers)
        case .connecting, .live, .catchingUp: break
        }
    }

    /// Tells rooms which commands have no answer, where these are others than before.
    private func tellPending(_ state: inout State, _ answers: inout Answers) {
        for (reference, holders) in state.holders where isHeld(reference, state, &answers) {
            let commands = state.machine?.room(reference)?.pending ?? []
            guard commands.map(\.number) != holders.pending else { continue }
            state.holders[reference]?.pending = commands.map(\.number)
            let pending = commands.map { pendingCommand($0, &state) }
            state.deliveries.append(.pending(reference, pending))
        }
    }

    private func pendingCommand(_ command: OutboxCommand, _ state: inout State) -> PendingCommand {
        let promise = state.promises[command.number] ?? Promise()
        state.promises[command.number] = promise
        return PendingCommand(
            id: CommandKey(known: command.key), command: Command(command.command), isKept: command.isKept,
            promise: promise)
    }

    private static func result(of answer: CommandAnswer) -> Result<Receipt, ClientError> {
        if case .acknowledged(let sequence, let result) = answer {
            .success(Receipt(sequence: sequence, result))
        } else {
            .failure(ClientError(answer) ?? ClientError(.internal, "the command has no answer"))
        }
    }

    /// A time that is past for the server, as near to the present as is known: the server refuses times of the future.
    var pastServerTime: ServerTime {
        state.withLock { state in
            let error = state.machine?.timeErrorMs ?? 0
            return ServerTime(milliseconds: serverTime(state).milliseconds &- Int64(error.rounded(.up)))
        }
    }

    /// The server's time as far as it is known, else the device's.
    func serverTime(_ state: borrowing State) -> ServerTime {
        let known = state.machine?.time(at: instant)
        return known.map { ServerTime($0) } ?? ServerTime(milliseconds: clock.date)
    }
}
