import RandomTestSupport
import RoomDomain
import RoomReplica
import RoomService
import RoomTestSupport
import RoomWire
import SimulatedTime

/// The programs of devices with the client's machine: what they do, and what becomes of it.
extension World {
    /// Lets an app's person act, and schedules the next act.
    func act(_ app: SimulatedApp) {
        guard !isSettling else { return }
        later(dice.time(microseconds: 1_000...plan.pace), app) { $0.act($1) }
        guard app.machine != nil else { return }
        switch dice.number(in: 0..<100) {
        case 0..<80: post(app)
        case 80..<86: loseLink(of: app)
        case 86..<90: crash(app)
        case 90..<93:
            feed(app) { $0.suspend(at: $1) }
            later(dice.time(microseconds: 1_000...500_000), app) { world, app in
                world.feed(app) { $0.wake(at: $1) }
            }
        default: feed(app) { $0.wake(at: $1) }
        }
    }

    /// Calls `body` in this world's turn after a time in nanoseconds, unless the world has ended by then.
    func later(
        _ nanoseconds: Int64, _ app: SimulatedApp,
        _ body: @escaping @Sendable (isolated World, SimulatedApp) -> Void
    ) {
        let number = app.number
        later(nanoseconds) { world in body(world, world.apps[number]) }
    }

    // MARK: Life and death

    /// Starts the program with what is on the disk.
    func launch(_ app: SimulatedApp) {
        guard app.machine == nil else { return }
        app.life += 1
        truth.note("app \(app.number) starts, life \(app.life), with \(app.outbox.count) commands")
        let outbox = app.outbox.values.sorted { $0.number < $1.number }
        app.machine = ClientMachine(outbox: outbox, last: app.lastNumber, at: moment)
        for room in app.followed { follow(room, app) }
        feed(app) { $0.start(at: $1) }
    }

    /// The program ends between any two of its steps; the disk stays.
    func crash(_ app: SimulatedApp) {
        truth.note("app \(app.number) crashes")
        loseLink(of: app)
        app.machine = nil
        app.attempt = 0
        later(dice.time(microseconds: 1_000...600_000), app) { $0.launch($1) }
    }

    func follow(_ room: RoomID, _ app: SimulatedApp) {
        let reference = RoomReference.id(room)
        feed(app) { $0.follow(reference, stored: app.rooms[reference], at: $1) }
    }

    /// The moment as a device has it.
    private var moment: ClientMoment {
        ClientMoment(
            instant: ClientInstant(nanoseconds: scheduler.now),
            wall: Timestamp(milliseconds: Int64(SimulatedNode.beginning) + scheduler.now / 1_000_000),
            random: dice.bits())
    }

    /// Gives the machine an input, takes its steps, and checks what it shows.
    func feed(_ app: SimulatedApp, _ input: (inout ClientMachine, ClientMoment) -> [ClientStep]) {
        guard var machine = app.machine else { return }
        // So that the machine is changed in place.
        app.machine = nil
        let steps = input(&machine, moment)
        app.machine = machine
        take(steps, app)
        checkShown(by: app)
    }

    private func take(_ steps: [ClientStep], _ app: SimulatedApp) {
        for (place, step) in steps.enumerated() {
            if !isSettling, dice.once(in: 300) { return crash(app) }
            switch step {
            case .connect(let attempt, let wait, let path):
                app.attempt = attempt
                let life = app.life
                later(wait * 1_000_000, app) { $0.dial($1, attempt, path, life: life) }
            case .close(let attempt, _):
                if app.socket?.attempt == attempt { hangUp(app) }
                if app.attempt == attempt { app.attempt = 0 }
            case .send(let bytes): send(bytes, app)
            case .wake(let at):
                app.wakes += 1
                guard let at else { continue }
                let (wake, life) = (app.wakes, app.life)
                later(max(0, at.nanoseconds - scheduler.now), app) { world, app in
                    guard app.wakes == wake, app.life == life else { return }
                    world.feed(app) { $0.woken(at: $1) }
                }
            case .keep(.room(let reference, let stored)): app.rooms[reference] = stored
            case .keep(.command(let command)):
                app.outbox[command.number] = command
                app.lastNumber = max(app.lastNumber, command.number)
            case .keep(.answered(let number)):
                app.outbox[number] = nil
                if !steps[place...].contains(where: { if case .answered(number, _) = $0 { true } else { false } }) {
                    truth.complain("app \(app.number) lets \(number.rawValue) go, and is not told of it")
                }
                if let place = app.place(of: number) { app.posted[place].isForgotten = true }
            case .answered(let number, let answer): told(number, answer, app)
            case .ended(let refusal):
                truth.complain("the session of app \(app.number) is over: \(refusal.code.text)")
            case .changed, .phase, .reaction, .signal, .told, .nearby, .nearbyEnded, .deckAnswered, .deckEnded:
                break
            }
        }
    }

    // MARK: Commands

    private func post(_ app: SimulatedApp) {
        guard let room = dice.element(of: app.followed) else { return }
        let reference = RoomReference.id(room)
        let state = app.machine?.room(reference)?.shown
        guard let state else { return }
        let mark = dice.once(in: 3) ? "app \(app.number), \(app.posted.count)" : nil
        var command = RoomCommand.join(name: nil)
        if let mark {
            command = .addTracks([TrackInfo(source: Truth.markSource, sourceID: mark, title: "Song of an app")])
        } else if app.machine?.room(reference)?.replica?.me != nil || dice.once(in: 3) {
            command = takenBack(by: app, in: room) ?? someCommand(state, of: truth.roomState(room))
        }
        let isKept = !dice.once(in: 4)
        let key = "\(app.number)-\(app.posted.count)-\(dice.bits())"
        let place = app.posted.count
        // The number is known only after the call; its answer may be among the steps.
        app.posted.append(
            SimulatedApp.Posted(
                room: room, command: command, isKept: isKept, mark: mark, number: CommandNumber(rawValue: 0),
                life: app.life))
        feed(app) { machine, now in
            let posted = machine.post(command, to: reference, key: key, isKept: isKept, at: now)
            app.posted[place].number = posted.number
            truth.note("app \(app.number) posts \(posted.number.rawValue): \(command), kept \(isKept)")
            return posted.steps
        }
    }

    /// Now and then, the opposite of the vote that was given last.
    private func takenBack(by app: SimulatedApp, in room: RoomID) -> RoomCommand? {
        guard let last = app.posted.last, last.room == room, case .vote(let track) = last.command, !dice.once(in: 3)
        else { return nil }
        return .unvote(track: track)
    }

    /// A command about something that is shown: also entries that are on their way.
    private func someCommand(_ shown: ShownState, of state: RoomState) -> RoomCommand {
        let track = dice.element(of: shown.pool)?.id ?? TrackID(rawValue: 1)
        let isNew = dice.once(in: 2)
        let entry =
            shown.queue.first { isNew && $0.id.rawValue < 0 }?.id ?? dice.element(of: shown.queue)?.id
            ?? EntryID(rawValue: 1)
        switch dice.number(in: 0..<14) {
        case 0..<4: return .vote(track: track)
        case 4: return .unvote(track: track)
        case 5, 6: return .enqueue(track: track, index: nil)
        case 7: return .dequeue(entry: entry)
        case 8: return .move(entry: entry, index: 0)
        case 9: return dice.once(in: 2) ? .play(entry: entry) : .play(entry: nil)
        case 10: return shown.playback?.isPaused == true ? .resume : .pause
        default:
            var commands = RandomCommands(
                random: SeededRandom(seed: dice.bits()), sessions: clients.map(\.session.id))
            let command = commands.command(for: state)
            switch command.kind {
            // Nobody but servers sends these; and apps are to have open rooms.
            case .countSkipVotes, .replaceOwner, .endMembership, .closeRoom: return .vote(track: track)
            case .join, .leave, .rename, .updateRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
                .removeTracks, .setWaveform, .setDuration, .setMissing, .vote, .unvote, .enqueue, .dequeue, .move,
                .play, .pause, .resume, .seek, .skip, .finish, .voteSkip, .unvoteSkip, .syncDeck:
                return command
            }
        }
    }

    private func told(_ number: CommandNumber, _ answer: CommandAnswer, _ app: SimulatedApp) {
        guard let place = app.place(of: number) else {
            return truth.complain("an answer to \(number) that nobody gave")
        }
        truth.note("app \(app.number) is told of \(number.rawValue): \(answer)")
        if let earlier = app.posted[place].answer {
            truth.complain("app \(app.number) is told of \(number.rawValue) twice: \(earlier), \(answer)")
        }
        switch answer {
        case .superseded, .expired:
            if app.posted[place].firstSent != nil {
                truth.complain("app \(app.number) is told that \(number.rawValue) was never sent: \(answer)")
            }
        case .acknowledged, .refused, .outcomeUnknown: break
        }
        app.posted[place].answer = answer
        app.posted[place].answeredIn = app.machine?.room(.id(app.posted[place].room))?.replica?.position.epoch
    }
}
