import NIOCore
import RoomDomain
import RoomService
import RoomWire

extension WebSocketConnection {
    /// Does what a client asks.
    ///
    /// Messages are taken in the order in which they came. `received` is when this one was read, in fractional
    /// milliseconds since the Unix epoch.
    func handle(_ message: ClientMessage, received: Double) {
        if case .time(let request, let t1) = message {
            // It concerns no room: nothing before it has to be done first.
            return send(ServerMessage.time(re: request, t1: t1, t2: received, t3: hub.rooms.clock.milliseconds))
        }
        inbox.append(message)
        work()
    }

    /// Does what came, in its order, as far as no answer is waited for and the peer takes what it is given.
    func work() {
        // An answer may come at once, from within the loop: the loop goes on with it.
        guard !isWorking else { return }
        isWorking = true
        while !isWaiting, isOpen, takesAnswers, !inbox.isEmpty { carryOut(inbox.removeFirst()) }
        isWorking = false
        leaveIfDone()
        readIfDue()
    }

    private func carryOut(_ message: ClientMessage) {
        switch message {
        case .subscribe(let request, let reference, let position):
            withRoom(reference, of: message, id: request) { self.subscribe(to: $0, id: request, position: position) }
        case .unsubscribe(let request, let reference):
            withRoom(reference, of: message, id: request) { room in
                self.hub.unfollow(self, room, because: .asked)
                self.send(ServerMessage.ok(re: request))
            }
        case .command(let request, let reference, let key, let command):
            withRoom(reference, of: message, id: request) {
                self.submit(command, to: $0, key: key, id: request)
            }
        case .react(let request, let reference, let emoji):
            withRoom(reference, of: message, id: request) { room in
                self.hub.rooms.react(emoji, in: room, by: self.session.id, self.liveReply(to: request))
            }
        case .signal(let request, let reference, let recipient, let data):
            withRoom(reference, of: message, id: request) { room in
                self.hub.rooms.signal(
                    data, to: recipient, in: room, by: self.session.id, self.liveReply(to: request))
            }
        case .nearby(let request, let query):
            startNearby(query, id: request)
        case .nearbyStop(let request, let sub):
            stopNearby(sub)
            send(ServerMessage.ok(re: request))
        case .time:
            break
        }
    }

    /// Counts a reaction or signal as under way, and returns what is to be called with what becomes of it.
    private func liveReply(to request: Int64?) -> @Sendable (LiveOutcome) -> Void {
        commandsInFlight += 1
        let (feed, connection) = (hub.feed, id)
        return { outcome in
            feed.onLoop { $0.connections[connection]?.liveAnswered(request, outcome) }
        }
    }

    private func liveAnswered(_ request: Int64?, _ outcome: LiveOutcome) {
        commandsInFlight -= 1
        if let failure = CommandFailure(outcome) {
            send(
                ServerMessage.error(
                    re: request, code: failure.code, message: failure.detail, retryAfterMs: failure.retryAfterMs))
        } else if let request {
            send(ServerMessage.ok(re: request))
        }
        leaveIfDone()
        readIfDue()
    }

    private func submit(_ command: RoomCommand, to room: RoomID, key: String?, id request: Int64?) {
        do throws(CommandFailure) {
            try hub.admission.command(command, of: session.id, in: room)
        } catch {
            hub.tally.messagesRateLimited += 1
            return send(
                ServerMessage.error(
                    re: request, code: error.code, message: error.detail, retryAfterMs: error.retryAfterMs))
        }
        commandsInFlight += 1
        let (feed, connection) = (hub.feed, id)
        hub.rooms.submit(
            CommandRequest(
                actor: .session(session.id, name: session.name), key: key, command: command, network: account.network
            ) { outcome in
                feed.onLoop { $0.connections[connection]?.commandAnswered(request, outcome) }
            }, to: room)
    }

    private func commandAnswered(_ request: Int64?, _ outcome: CommandOutcome) {
        commandsInFlight -= 1
        switch outcome {
        case .acknowledged(let seq, let result):
            if let request { send(ServerMessage.ack(re: request, seq: seq, result: result)) }
        case .refused, .keyReused, .noSuchRoom, .unavailable, .internalFault:
            let failure = CommandFailure(outcome)
            send(
                ServerMessage.error(
                    re: request, code: failure.code, message: failure.detail, retryAfterMs: failure.retryAfterMs))
        }
        leaveIfDone()
        readIfDue()
    }

    // MARK: Codes

    /// Runs `body` with the room that is meant: at once where that is known here, else after it was looked up, with all
    /// later messages waiting behind it.
    private func withRoom(
        _ reference: RoomReference, of message: ClientMessage, id request: Int64?, _ body: (RoomID) -> Void
    ) {
        switch reference {
        case .id(let room):
            body(room)
        case .code(let code):
            if let room = hub.rooms.liveRoom(code: code) { return body(room) }
            isWaiting = true
            let (host, feed, connection) = (hub.rooms, hub.feed, id)
            host.resolve(reference) { result in
                feed.onLoop { $0.connections[connection]?.resolved(message.with(result), id: request) }
            }
        }
    }

    private func resolved(_ message: Result<ClientMessage, RoomFailure>, id request: Int64?) {
        isWaiting = false
        switch message {
        case .success(let message):
            carryOut(message)
        case .failure(let failure):
            let failure = CommandFailure(failure)
            send(
                ServerMessage.error(
                    re: request, code: failure.code, message: failure.detail, retryAfterMs: failure.retryAfterMs))
        }
        work()
    }

    /// Goes on after the answer that was waited for.
    func answered() {
        isWaiting = false
        work()
    }
}

extension ClientMessage {
    /// The same message about the room that was found for its code.
    fileprivate func with(_ found: Result<RoomID, RoomFailure>) -> Result<ClientMessage, RoomFailure> {
        found.map { room in
            switch self {
            case .subscribe(let id, _, let position): .subscribe(id: id, room: .id(room), position: position)
            case .unsubscribe(let id, _): .unsubscribe(id: id, room: .id(room))
            case .command(let id, _, let key, let command):
                .command(id: id, room: .id(room), key: key, command: command)
            case .react(let id, _, let emoji): .react(id: id, room: .id(room), emoji: emoji)
            case .signal(let id, _, let recipient, let data):
                .signal(id: id, room: .id(room), to: recipient, data: data)
            case .time, .nearby, .nearbyStop: self
            }
        }
    }
}
