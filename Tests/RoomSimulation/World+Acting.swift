import EventStorage
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomService
import RoomTestSupport
import RoomWire
import SimulatedTime

extension World {
    /// Lets one or several clients act, and schedules the next action.
    func act() {
        guard !isSettling else { return }
        for _ in 0..<(dice.once(in: 4) ? 5 : 1) {
            actionsLeft -= 1
            actOnce()
        }
        guard actionsLeft > 0 else {
            return later(dice.time(microseconds: 0...1_000_000)) { $0.settle() }
        }
        later(dice.time(microseconds: 0...plan.pace)) { $0.act() }
    }

    private func actOnce() {
        let open = rooms.filter { truth.roomState($0).isOpen }
        guard let client = dice.element(of: clients.filter { !$0.isLeaving }),
            let room = dice.element(of: open.isEmpty || dice.once(in: 20) ? rooms : open)
        else { return }
        if open.isEmpty, dice.once(in: 4) { return makeRoom(client) }
        switch dice.number(in: 0..<100) {
        case 0..<42: command(client, room)
        case 42..<45: bringDeckAlong(to: room)
        case 45..<65: changeConnection(of: client, to: room)
        case 65..<75: if let wish = wishes.indices.last(where: { wishes[$0].key != nil }) { ask(wish) }
        case 75..<78: claimDeck(of: room)
        case 78..<81: look(at: room, client)
        case 81..<84: lookAtWaveform(in: room, client)
        case 84..<88: lookBack(at: room, client)
        case 88..<91: readLog(of: room, client)
        case 91..<94: find(room)
        case 94..<96: authenticate(client)
        case 96..<98: rename(client)
        case 98: if plan.renewsEpochs, dice.once(in: 2) { renewEpoch(of: room) } else { makeRoom(client) }
        default: if dice.once(in: 2) { leave(client) }
        }
    }

    // MARK: Commands

    private func command(_ client: Client, _ room: RoomID) {
        let key = dice.once(in: 3) ? nil : "\(wishes.count)"
        guard !dice.once(in: 4) else {
            let track = TrackInfo(source: Truth.markSource, sourceID: "\(wishes.count)", title: "Song \(wishes.count)")
            return wish(someOwner(of: room) ?? client, room, .addTracks([track]), key: key)
        }
        let state = truth.roomState(room)
        if state.memberOfSession[client.session.id] == nil, dice.once(in: 2) {
            return wish(client, room, .join(name: nil), key: key)
        }
        var commands = RandomCommands(
            random: SeededRandom(seed: dice.bits()), sessions: clients.map(\.session.id), replacesOwners: true)
        var command = commands.command(for: state)
        // Commands that end everything, and commands that are always refused, are tried less often.
        switch command {
        case .closeRoom, .endMembership: if !dice.once(in: 10) { command = commands.command(for: state) }
        default: break
        }
        // Only the owner may give most commands.
        wish(dice.once(in: 2) ? client : someOwner(of: room) ?? client, room, command, key: key)
    }

    private func someOwner(of room: RoomID) -> Client? {
        guard let owner = truth.roomState(room).members.values.first(where: { $0.role == .owner }) else { return nil }
        return clients.first { $0.session.id == owner.session && !$0.isLeaving }
    }

    /// Sends a command, now and then twice at once.
    func wish(_ client: Client, _ room: RoomID, _ command: RoomCommand, key: String?) {
        let number = wishes.count
        truth.note("wish \(number) of \(client.session.name): \(command), key \(key ?? "none")")
        wishes.append(Wish(client: client.number, room: room, command: command, actor: client.actor, key: key))
        ask(number)
        if key != nil, dice.once(in: 6) { ask(number) }
    }

    func ask(_ number: Int) {
        guard let node = someNode else { return retry(number) }
        let (wish, attempt) = (wishes[number], wishes[number].attempts.count)
        truth.note("wish \(number) goes to \(node.name)")
        wishes[number].attempts.append(Wish.Attempt(node: node, head: truth.head(of: wish.room)))
        let truth = truth
        node.host.registry.submit(
            CommandRequest(actor: wish.actor, key: wish.key, command: wish.command) { outcome in
                let head = truth.head(of: wish.room)
                self.next { $0.answered(number, attempt, outcome, head: head) }
            },
            to: wish.room)
    }

    private func answered(_ number: Int, _ attempt: Int, _ outcome: CommandOutcome, head: Int) {
        guard wishes.indices.contains(number) else { return }
        var wish = wishes[number]
        truth.note("wish \(number) is answered \(outcome)")
        // The connection to a crashed server delivers nothing.
        guard !wish.attempts[attempt].isLost else { return }
        if wish.attempts[attempt].outcome != nil { truth.complain("wish \(number) is answered twice") }
        wish.attempts[attempt].outcome = outcome
        compareDevice(of: number, outcome)
        truth.judge(
            Truth.Answer(
                wish: number, command: wish.command, actor: wish.actor, key: wish.key, room: wish.room,
                outcome: outcome,
                head: (asked: wish.attempts[attempt].head, firstAsked: wish.attempts[0].head, answered: head)))
        switch outcome {
        case .acknowledged:
            if let first = wish.acknowledged, wish.key != nil, first != outcome {
                truth.complain("wish \(number) is answered \(first) and \(outcome)")
            }
            wish.acknowledged = outcome
            wish.isOver = true
        case .failed(.unavailable), .failed(.outcomeUnknown):
            if plan.isCalm { truth.complain("wish \(number) is answered \(outcome), and nothing is wrong") }
            if wish.key == nil { wish.isOver = true }
        case .keyReused, .failed(.refused), .failed(.noSuchRoom), .failed(.busy), .failed(.internalFault):
            wish.isOver = true
        }
        wishes[number] = wish
        if !wish.isOver { retry(number) }
    }

    /// Sends a wish again some time later, unless it is answered by then or an answer is under way.
    func retry(_ number: Int) {
        later(dice.time(microseconds: 500...400_000)) { world in
            guard world.wishes.indices.contains(number) else { return }
            let wish = world.wishes[number]
            guard !wish.isOver, !wish.isWaiting || world.dice.once(in: 8) else { return }
            if world.clients[wish.client].isLeaving || (wish.key == nil && !wish.attempts.isEmpty) {
                world.wishes[number].isOver = true
            } else {
                world.ask(number)
            }
        }
    }

    // MARK: Sessions and rooms

    private func authenticate(_ client: Client) {
        guard let node = someNode else { return }
        let (session, hash, isCalm, truth) = (client.session.id, client.tokenHash, plan.isCalm, truth)
        send(node) {
            let found = try? await node.host.sessions.authenticate(tokenHash: hash)
            if found?.id != session, isCalm || found != nil {
                self.next { world in
                    // It may have left meanwhile.
                    if !world.clients.contains(where: { $0.tokenHash == hash && $0.isLeaving }) {
                        truth.complain("a session is not recognised")
                    }
                }
            }
        }
    }

    private func rename(_ client: Client) {
        guard let node = someNode else { return }
        let (session, number) = (client.session, client.number)
        let name = "\(session.name)+"
        guard name.count < 30 else { return }
        send(node) {
            guard let renamed = try? await node.host.sessions.rename(session, to: name) else { return }
            self.next { $0.clients[number].session = renamed }
        }
    }

    private func makeRoom(_ client: Client) {
        guard rooms.count < 6, let node = someNode else { return }
        let (session, key, truth) = (client.session, "room \(rooms.count)", truth)
        send(node) {
            let wanted = try? CreateRoomRequest.parse(Array(#"{"name":"\#(key)"}"#.utf8))
            // Twice under the same key: this makes one room.
            for _ in 0..<2 {
                guard let wanted, let view = try? await node.host.creation.create(wanted, by: session, key: key) else {
                    continue
                }
                truth.check(view, for: session.id)
                self.next { if !$0.rooms.contains(view.room) { $0.rooms.append(view.room) } }
            }
        }
    }

    /// Renews an epoch, as an operator does after a restore.
    private func renewEpoch(of room: RoomID) {
        let renewal = EpochRenewal(of: room, random: dice.bits())
        truth.note("\(room) begins another epoch, \(renewal.epoch)")
        if case .success = log.carryOut({ log throws(StorageFault) in try await log.renewEpochs([renewal]) }) {
            truth.renewed(room, epoch: renewal.epoch)
        }
    }

    private func leave(_ client: Client) {
        guard clients.count(where: { !$0.isLeaving }) > 2 else { return }
        client.isLeaving = true
        for connection in client.connections { drop(connection.id, of: client) }
        endSession(of: client.number)
    }

    func endSession(of number: Int) {
        guard let node = someNode else { return later(50_000_000) { $0.endSession(of: number) } }
        let session = clients[number].session.id
        truth.note("\(clients[number].session.name) ends its session at \(node.name)")
        send(node) {
            let hasEnded = (try? await node.host.sessionEnding.end(session)) != nil
            self.next { world in
                if hasEnded {
                    world.endedSessions.append(session)
                } else {
                    world.later(20_000_000) { $0.endSession(of: number) }
                }
            }
        }
    }
}
