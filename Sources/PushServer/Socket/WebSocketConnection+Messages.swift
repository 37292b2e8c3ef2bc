import NIOCore
import RoomDomain
import RoomService
import RoomWire

extension WebSocketConnection {
    /// Carries out a client's message.
    ///
    /// Messages are handled in the order in which they arrived. `received` is the time at which this one was read, in
    /// fractional milliseconds since the Unix epoch.
    func handle(_ message: ClientMessage, received: Double) {
        if case .time(let request, let t1) = message {
            // The message concerns no room, so it need not wait for earlier ones.
            return send(ServerMessage.time(re: request, t1: t1, t2: received, t3: loop.rooms.clock.milliseconds))
        }
        requests.add(message)
        work()
    }

    /// Carries out the messages in the inbox, in order, until one has to wait for its answer or the peer takes no more
    /// answers.
    func work() {
        // An answer may arrive at once, from within the loop; the loop then continues with it.
        guard requests.begin() else { return }
        while isOpen, takesAnswers, let message = requests.next() { carryOut(message) }
        requests.end()
        leaveIfDone()
        readIfDue()
    }

    private func carryOut(_ message: ClientMessage) {
        switch message {
        case .subscribe(let request, let reference, let position):
            withRoom(reference, of: message, id: request) { self.subscribe(to: $0, id: request, position: position) }
        case .unsubscribe(let request, let reference):
            // No look-up is needed: a followed room is in memory, and for any other room there is nothing to end.
            let room: RoomID? =
                switch reference {
                case .id(let room): room
                case .code(let code): loop.rooms.registry.liveRoom(code: code)
                }
            if let room { hub.unfollow(self, room, because: .asked) }
            send(ServerMessage.ok(re: request))
        case .command(let request, let reference, let key, let command, let earlier):
            withRoom(reference, of: message, id: request) {
                self.submit(command, to: $0, key: key, after: earlier, id: request)
            }
        case .react(let request, let reference, let emoji):
            withRoom(reference, of: message, id: request) { room in
                self.loop.rooms.registry.react(emoji, in: room, by: self.session.id, self.ephemeralReply(to: request))
            }
        case .signal(let request, let reference, let recipient, let data):
            withRoom(reference, of: message, id: request) { room in
                self.loop.rooms.registry.signal(
                    data, to: recipient, in: room, by: self.session.id, self.ephemeralReply(to: request))
            }
        case .deck(let request, let reference, let isOn):
            withRoom(reference, of: message, id: request) { room in
                self.loop.rooms.registry.claimDeck(
                    isOn, in: room, by: self.session.id, on: self.id, self.ephemeralReply(to: request))
            }
        case .nearby(let request, let query):
            startNearby(query, id: request)
        case .nearbyStop(let request, let sub):
            stopNearby(sub)
            send(ServerMessage.ok(re: request))
        case .statistics(let request, let reference, let offset):
            withRoom(reference, of: message, id: request) { self.startCounts(of: $0, offset: offset, id: request) }
        case .statisticsStop(let request, let sub):
            stopCounts(sub)
            send(ServerMessage.ok(re: request))
        case .trending(let request, let query):
            startTrend(query, id: request)
        case .trendingStop(let request, let sub):
            stopTrend(sub)
            send(ServerMessage.ok(re: request))
        case .time:
            break
        }
    }

    /// Counts a reaction, a signal or a claim as under way, and returns the callback for its outcome.
    private func ephemeralReply(to request: Int64?) -> @Sendable (EphemeralOutcome) -> Void {
        requests.began()
        let (feed, connection) = (hub.feed, id)
        return { outcome in
            feed.onSocket(connection) { $0.ephemeralAnswered(request, outcome) }
        }
    }

    private func ephemeralAnswered(_ request: Int64?, _ outcome: EphemeralOutcome) {
        requests.ended()
        if let failure = CommandFailure(outcome) {
            refuse(request, failure)
        } else if let request {
            send(ServerMessage.ok(re: request))
        }
        leaveIfDone()
        readIfDue()
    }

    private func submit(
        _ command: RoomCommand, to room: RoomID, key: String?, after earlier: Int64?, id request: Int64?
    ) {
        do throws(CommandFailure) {
            try loop.admission.command(command, of: session.id, in: room)
        } catch {
            loop.tally.messagesRateLimited += 1
            requests.order.note(request, of: room, error)
            return refuse(request, error)
        }
        requests.began()
        let (feed, connection) = (hub.feed, id)
        let (admission, address) = (loop.admission, account.network)
        loop.rooms.registry.submit(
            CommandRequest(
                actor: .session(session.id, name: session.name), key: key, command: command, network: address,
                countNewcomer: { admission.newcomer(from: address, to: room) },
                place: CommandPlace(request, after: earlier, of: room, in: requests.order)
            ) { outcome in
                feed.onSocket(connection) { $0.commandAnswered(request, outcome) }
            }, to: room)
    }

    private func commandAnswered(_ request: Int64?, _ outcome: CommandOutcome) {
        requests.ended()
        switch outcome {
        case .acknowledged(let seq, let keyed, let result):
            if let request { send(ServerMessage.ack(re: request, seq: seq, keyed: keyed, result: result)) }
        case .keyReused, .failed:
            refuse(request, CommandFailure(outcome))
        }
        leaveIfDone()
        readIfDue()
    }

    // MARK: Looking for rooms

    /// The client that looks for rooms on this connection.
    private var seeker: RoomSeeker { RoomSeeker(session: session.id, address: account.network) }

    /// Runs `body` with the room that is meant.
    ///
    /// It runs at once if the room is known here; otherwise the room is looked up, and all later messages wait.
    private func withRoom(
        _ reference: RoomReference, of message: ClientMessage, id request: Int64?, _ body: (RoomID) -> Void
    ) {
        do throws(CommandFailure) {
            if let room = try loop.lookup.known(reference, by: seeker, isFollowed: { self.subscriptions.follows($0) }) {
                return body(room)
            }
        } catch {
            return refuse(message, error)
        }
        requests.wait()
        let (feed, connection) = (hub.feed, id)
        loop.lookup.find(reference, for: seeker) { result in
            feed.onSocket(connection) { $0.resolved(message, result) }
        }
    }

    private func resolved(_ message: ClientMessage, _ found: Result<RoomID, CommandFailure>) {
        requests.answered()
        switch found {
        case .success(let room): carryOut(message.with(room))
        case .failure(let failure): refuse(message, failure)
        }
        work()
    }

    /// Answers that a message was not carried out.
    func refuse(_ message: ClientMessage, _ failure: CommandFailure) {
        if case .command(let request, let reference, _, _, _) = message {
            var room: RoomID?
            if case .id(let id) = reference { room = id }
            requests.order.note(request, of: room, failure)
        }
        refuse(message.id, failure)
    }

    /// Answers that a request has failed.
    func refuse(_ request: Int64?, _ failure: CommandFailure) {
        send(failure.answer(to: request))
    }

    /// Continues after the answer that was waited for.
    func answered() {
        requests.answered()
        work()
    }
}

extension ClientMessage {
    /// Replaces the message's code by the room that was found for it.
    fileprivate func with(_ room: RoomID) -> ClientMessage {
        switch self {
        case .subscribe(let id, _, let position): .subscribe(id: id, room: .id(room), position: position)
        case .unsubscribe(let id, _): .unsubscribe(id: id, room: .id(room))
        case .command(let id, _, let key, let command, let earlier):
            .command(id: id, room: .id(room), key: key, command: command, after: earlier)
        case .react(let id, _, let emoji): .react(id: id, room: .id(room), emoji: emoji)
        case .signal(let id, _, let recipient, let data):
            .signal(id: id, room: .id(room), to: recipient, data: data)
        case .deck(let id, _, let isOn): .deck(id: id, room: .id(room), isOn: isOn)
        case .statistics(let id, _, let offset): .statistics(id: id, room: .id(room), offset: offset)
        case .time, .nearby, .nearbyStop, .statisticsStop, .trending, .trendingStop: self
        }
    }
}

extension CommandOrder {
    /// Notes that a command was not carried out; does nothing if it was refused for good.
    func note(_ number: Int64?, of room: RoomID?, _ failure: CommandFailure) {
        switch failure.code {
        case .unavailable: note(number, of: room, RoomFailure.unavailable)
        case .outcomeUnknown: note(number, of: room, RoomFailure.outcomeUnknown)
        case .rateLimited:
            let wait = Int64(failure.retryAfterMs ?? 0)
            note(number, of: room, RoomFailure.refused(.rateLimited(failure.detail, retryAfterMs: wait)))
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .unauthorized, .forbidden, .banned,
            .notFound, .notMember, .conflict, .roomClosed, .tooLarge, .limitReached, .internal:
            break
        }
    }
}
