import RoomDomain
import RoomReplica
import RoomWire
import Synchronization

extension ClientEngine {
    /// What tasks that wait are told, once the lock is free.
    struct Answers {
        var commands: [(Promise<Receipt>, Result<Receipt, ClientError>)] = []
        var tellings: [(Promise<Void>, Result<Void, ClientError>)] = []

        static func += (left: inout Answers, right: Answers) {
            left.commands += right.commands
            left.tellings += right.tellings
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
            case .changed(let room, let changes): settle(changes, of: room, &state)
            case .phase(let room, let phase): settle(phase, of: room, &state)
            case .answered(let number, let answer):
                let promise = state.promises.removeValue(forKey: number)
                if let promise { answers.commands.append((promise, Self.result(of: answer))) }
            case .told(let number, let refusal):
                guard let promise = state.tellings.removeValue(forKey: number) else { continue }
                let error = refusal.map { ClientError($0.code, $0.message, retryAfterMs: $0.retryAfterMs) }
                answers.tellings.append((promise, error.map { .failure($0) } ?? .success(())))
            case .reaction(let room, let from, let emoji):
                guard state.holders[room]?.room.room != nil else { continue }
                state.deliveries.append(.reaction(room, Reaction(from: MemberID(from), emoji: emoji)))
            case .signal(let room, let from, let data):
                guard state.holders[room]?.room.room != nil else { continue }
                state.deliveries.append(.signal(room, Signal(from: MemberID(from), json: data.text)))
            case .nearby(let watch, let rooms):
                state.deliveries.append(.nearby(watch, rooms.map { RoomSummary($0) }))
            case .nearbyEnded(let watch, let code):
                state.deliveries.append(.nearbyEnded(watch, ClientError(code, "the circle is not watched any more")))
            case .deckAnswered(let room, let key, let answer):
                state.deliveries.append(.deckAnswered(room, key: key, ClientError(answer)))
            case .deckEnded(let room, let code):
                state.deliveries.append(.deckEnded(room, ClientError(code, "the deck leads the room no more")))
            case .ended(let code): state.work.append(.end(.ended(code)))
            }
        }
        tellPending(&state)
        return answers
    }

    private func settle(
        _ changes: [RoomReplica.RoomChange], of reference: RoomWire.RoomReference, _ state: inout State
    ) {
        guard let holders = state.holders[reference], let room = state.machine?.room(reference),
            let position = room.replica?.position
        else { return }
        let isReset = changes.contains(.reset)
        if holders.room.room != nil {
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
        for weak in holders.followers.values { weak.follower?.push(update) }
    }

    private func settle(_ phase: Following.Phase, of reference: RoomWire.RoomReference, _ state: inout State) {
        guard let holders = state.holders[reference] else { return }
        if holders.room.room != nil { state.deliveries.append(.phase(reference, phase, at: serverTime(state))) }
        switch phase {
        case .offline: for weak in holders.followers.values { weak.follower?.push(.offline) }
        case .ended(let code): for weak in holders.followers.values { weak.follower?.push(.ended(.ended(code))) }
        case .connecting, .live, .catchingUp: break
        }
    }

    /// Tells rooms which commands have no answer, where these are others than before.
    private func tellPending(_ state: inout State) {
        for (reference, holders) in state.holders where holders.room.room != nil {
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
