import RoomDomain
import RoomReplica
import RoomService
import RoomWire
import SimulatedTime

/// The sockets of apps: what the network and a server's front do between a machine and the rooms.
extension World {
    // MARK: The network

    /// An attempt begins: it fails, or a socket opens.
    func dial(_ app: SimulatedApp, _ attempt: Int, _ path: SocketPath, life: Int) {
        guard app.life == life, app.attempt == attempt, app.socket == nil else { return }
        later(dice.time(microseconds: 100...100_000), app) { world, app in
            guard app.life == life, app.attempt == attempt, app.socket == nil else { return }
            guard !app.isCutOff, let node = world.someNode, world.isSettling || !world.dice.once(in: 6) else {
                return world.feed(app) { $0.failed(attempt, at: $1) }
            }
            world.lastSocket += 1
            app.socket = SimulatedApp.Socket(id: world.lastSocket, attempt: attempt, node: node)
            world.truth.note("app \(app.number) connects to \(node.name)")
            if case .room(let room, let position) = path {
                app.socket?.inbox.append(.subscribe(id: nil, room: room, position: position))
            }
            world.beat(app, world.lastSocket)
            world.feed(app) { $0.opened(attempt, at: $1) }
            world.workOff(app)
        }
    }

    /// The link breaks: both ends lose what is on its way, and the device learns it later.
    func loseLink(of app: SimulatedApp) {
        guard let socket = app.socket else { return }
        truth.note("app \(app.number) loses its link")
        hangUp(app)
        let life = app.life
        later(dice.time(microseconds: 1_000...400_000), app) { world, app in
            guard app.life == life else { return }
            world.feed(app) { $0.closed(socket.attempt, at: $1) }
        }
    }

    /// The server's end of a socket is over.
    func hangUp(_ app: SimulatedApp) {
        guard let socket = app.socket else { return }
        app.socket = nil
        for follow in socket.follows { socket.node.unfollow(follow.id, follow.room, because: .lost) }
    }

    /// Brings a message to the server.
    func send(_ bytes: [UInt8], _ app: SimulatedApp) {
        guard let socket = app.socket else { return }
        guard let message = try? ClientMessage.parse(bytes) else {
            return truth.complain("app \(app.number) sends \(String(decoding: bytes, as: UTF8.self))")
        }
        let at = max(socket.lastArrival.up + 1, scheduler.now + dice.time(microseconds: 50...20_000))
        app.socket?.lastArrival.up = at
        later(at - scheduler.now, app) { world, app in
            guard app.socket?.id == socket.id else { return }
            app.socket?.inbox.append(message)
            world.workOff(app)
        }
    }

    private enum Lane {
        /// Answers to commands, which overtake what rests.
        case answer
        /// Subscriptions and what follows them.
        case news
    }

    /// Brings a message to the device.
    private func deliver(_ bytes: [UInt8], _ app: SimulatedApp, _ lane: Lane) {
        guard let socket = app.socket else { return }
        let at: Int64
        switch lane {
        case .answer:
            at = max(socket.lastArrival.answer + 1, scheduler.now + dice.time(microseconds: 50...20_000))
            app.socket?.lastArrival.answer = at
        case .news:
            at = max(socket.lastArrival.news + 1, scheduler.now + dice.time(microseconds: 50...60_000))
            app.socket?.lastArrival.news = at
        }
        later(at - scheduler.now, app) { world, app in
            guard app.socket?.id == socket.id else { return }
            world.feed(app) { $0.received(bytes, on: socket.attempt, at: $1) }
        }
    }

    /// A message that the device cannot read.
    private static let unreadable = Array(#"{"type":"later"}"#.utf8)

    // MARK: The server's front

    /// Sends a beat on a socket from time to time.
    private func beat(_ app: SimulatedApp, _ id: Int) {
        later(dice.time(microseconds: 1_000_000...2_000_000), app) { world, app in
            guard let socket = app.socket, socket.id == id else { return }
            let now = Timestamp(milliseconds: Int64(SimulatedNode.beginning) + world.scheduler.now / 1_000_000)
            let rooms = socket.follows.filter { $0.isFollowing && !$0.isCatchingUp }.map { ($0.room, $0.sent) }
            if !socket.node.hasCrashed { world.deliver(ServerMessage.beat(time: now, rooms: rooms), app, .news) }
            world.beat(app, id)
        }
    }

    /// Handles the messages of a socket; one behind a subscription waits until that is answered.
    private func workOff(_ app: SimulatedApp) {
        while let socket = app.socket, !socket.isWaiting, !socket.node.hasCrashed, let message = socket.inbox.first {
            // A server answers one question of a room at a time.
            if case .subscribe(_, .id(let room), _) = message,
                socket.follows.contains(where: { $0.room == room && $0.isCatchingUp })
            {
                return
            }
            app.socket?.inbox.removeFirst()
            switch message {
            case .subscribe(let id, let room, let position): subscribe(app, socket, id, room, position)
            case .unsubscribe(let id, .id(let room)):
                if let follow = socket.follows.first(where: { $0.room == room }) {
                    app.socket?.follows.removeAll { $0.room == room }
                    socket.node.unfollow(follow.id, room, because: .asked)
                }
                deliver(ServerMessage.ok(re: id), app, .answer)
            case .command(let id, .id(let room), let key, let command, let earlier):
                ask(app, socket, id, room, key: key, after: earlier, command)
            case .time(let id, let t1):
                let now = SimulatedNode.beginning + Double(scheduler.now) / 1_000_000
                deliver(ServerMessage.time(re: id, t1: t1, t2: now, t3: now), app, .answer)
            case .unsubscribe, .command, .react, .signal, .deck, .nearby, .nearbyStop, .statistics, .statisticsStop,
                .trending, .trendingStop:
                truth.complain("app \(app.number) sends \(message)")
            }
        }
    }

    private func subscribe(
        _ app: SimulatedApp, _ socket: SimulatedApp.Socket, _ id: Int64?, _ reference: RoomReference,
        _ position: Position?
    ) {
        guard case .id(let room) = reference else { return truth.complain("app \(app.number) names a code") }
        app.socket?.isWaiting = true
        let connection: ConnectionID
        if let place = socket.follows.firstIndex(where: { $0.room == room }) {
            connection = socket.follows[place].id
            app.socket?.follows[place].isFollowing = false
            app.socket?.follows[place].isCatchingUp = false
        } else {
            lastConnection += 1
            connection = ConnectionID(rawValue: lastConnection)
            app.socket?.follows.append(SimulatedApp.Follow(id: connection, room: room))
        }
        truth.note(
            "app \(app.number) follows \(room) as \(connection.rawValue) from \(position.map { "\($0.seq)" } ?? "nothing")"
        )
        socket.node.follow(
            SubscriptionRequest(
                connection: connection, asker: Asker(app.session.id, from: nil), .begin(id: id, from: position),
                feed: socket.node.feed),
            room)
    }

    private func ask(
        _ app: SimulatedApp, _ socket: SimulatedApp.Socket, _ id: Int64?, _ room: RoomID, key: String?,
        after earlier: Int64?, _ command: RoomCommand
    ) {
        // What comes after the place may differ: then the room carries the command out twice.
        let parts = key?.split(separator: "-") ?? []
        guard parts.count == 3, let place = Int(parts[1]), app.posted.indices.contains(place) else {
            return truth.complain("app \(app.number) sends \(command) under \(key ?? "no key")")
        }
        let head = truth.head(of: room)
        let first = app.posted[place].firstSent ?? head
        app.posted[place].firstSent = first
        app.posted[place].possibleRefusals += 1
        let (truth, actor, number) = (truth, app.actor, app.number)
        socket.node.host.registry.submit(
            CommandRequest(
                actor: actor, key: key, command: command,
                place: CommandPlace(id, after: earlier, of: room, in: socket.order)
            ) { outcome in
                let answered = truth.head(of: room)
                self.next { world in
                    guard !socket.node.hasCrashed else { return }
                    world.judge(
                        Truth.Answer(
                            wish: -1 - number * 100_000 - place, command: command, actor: actor, key: key,
                            room: room, outcome: outcome, head: (asked: head, firstAsked: first, answered: answered)),
                        to: id, after: earlier, on: socket, of: world.apps[number])
                    world.answered(world.apps[number], socket, id, place, outcome)
                }
            },
            to: room)
    }

    /// Judges the answer to a command, but not where it is put off behind the one that it names: no state has to say so.
    ///
    /// The answer to that one may come later: until then nobody knows.
    private func judge(
        _ answer: Truth.Answer, to id: Int64?, after earlier: Int64?, on socket: SimulatedApp.Socket,
        of app: SimulatedApp
    ) {
        let isRateLimited: Bool
        let isPutOff: Bool
        switch answer.outcome {
        case .failed(.refused(.rateLimited)): (isRateLimited, isPutOff) = (true, true)
        case .failed(.unavailable), .failed(.outcomeUnknown), .failed(.busy): (isRateLimited, isPutOff) = (false, true)
        case .acknowledged, .keyReused, .failed(.refused), .failed(.noSuchRoom), .failed(.internalFault):
            (isRateLimited, isPutOff) = (false, false)
        }
        let isBehind = earlier.flatMap { app.isPutOff[.init(socket: socket.id, number: $0)] }
        if let earlier, isRateLimited, isBehind == nil {
            app.unjudged[.init(socket: socket.id, number: earlier), default: []].append(answer)
        } else if !isRateLimited || isBehind != true {
            truth.judge(answer)
        }
        guard let id else { return }
        let sent = SimulatedApp.SentCommand(socket: socket.id, number: id)
        app.isPutOff[sent] = isPutOff
        // The room may have refused the earlier one for now, and decided it anew after another server's append.
        for later in app.unjudged.removeValue(forKey: sent) ?? [] where !isPutOff {
            truth.judge(later, behind: answer.command)
        }
    }

    private func answered(
        _ app: SimulatedApp, _ socket: SimulatedApp.Socket, _ id: Int64?, _ place: Int, _ outcome: CommandOutcome
    ) {
        switch outcome {
        case .acknowledged, .failed(.unavailable), .failed(.busy), .failed(.refused(.rateLimited)):
            app.posted[place].possibleRefusals -= 1
        case .keyReused, .failed(.refused), .failed(.outcomeUnknown), .failed(.noSuchRoom), .failed(.internalFault):
            break
        }
        let message: [UInt8]
        switch outcome {
        case .acknowledged(let seq, let keyed, let result):
            message = ServerMessage.ack(re: id, seq: seq, keyed: keyed, result: result)
        case .keyReused: message = ServerMessage.error(re: id, code: .conflict, message: "the key is another's")
        case .failed(let failure):
            let (code, wait) = Self.error(failure)
            message = ServerMessage.error(re: id, code: code, message: "no", retryAfterMs: wait)
        }
        guard app.socket?.id == socket.id else { return }
        if case .acknowledged = outcome, forgetsKey(of: place, app) { return }
        deliver(message, app, .answer)
    }

    private static func error(_ failure: RoomFailure) -> (ErrorCode, retryAfterMs: Int?) {
        switch failure {
        case .noSuchRoom: (.notFound, nil)
        case .refused(let refusal): (ErrorCode(refusal), refusal.retryAfterMs)
        case .unavailable, .busy: (.unavailable, 100)
        case .outcomeUnknown: (.outcomeUnknown, 100)
        case .internalFault: (.internal, nil)
        }
    }

    // MARK: News of rooms

    /// The app whose socket has this connection, and the place of it.
    private func follower(_ id: ConnectionID) -> (app: SimulatedApp, place: Int)? {
        for app in apps {
            if let place = app.socket?.follows.firstIndex(where: { $0.id == id }) { return (app, place) }
        }
        return nil
    }

    /// Brings news of a room to the apps that follow it there.
    ///
    /// Returns true if they are for a connection of an app alone.
    func appsHeard(_ news: SimulatedFeed.News, from node: SimulatedNode) -> Bool {
        switch news {
        case .began(let subscription, _): return began(subscription)
        case .refused(let refused): return appRefused(refused)
        case .moved(let update):
            each(on: node, update.room) { app, place, follow in
                guard !follow.isCatchingUp else { return }
                if update.from != follow.sent + 1 {
                    truth.complain("app \(app.number) at \(follow.sent) is sent \(update.from)…\(update.seq)")
                }
                if !isSettling, dice.once(in: 40) {
                    return catchUp(app, place, .collapse(from: update.from))
                }
                app.socket?.follows[place].sent = update.seq
                let isLost = dice.once(in: 50)
                deliver(isLost ? Self.unreadable : update.message, app, .news)
            }
        case .shown(let message): each(on: node, message.room) { app, _, _ in deliver(message.message, app, .news) }
        case .anew(let room):
            each(on: node, room) { app, place, follow in
                if !follow.isCatchingUp { catchUp(app, place, .anew) }
            }
        case .banned(let session, let room):
            for app in apps where app.session.id == session && app.socket?.node === node {
                guard app.socket?.follows.contains(where: { $0.room == room && $0.isFollowing }) == true else {
                    continue
                }
                app.socket?.follows.removeAll { $0.room == room }
                deliver(ServerMessage.ended(room: room, code: .banned), app, .news)
            }
        case .deckMoved: break
        }
        return false
    }

    private func each(
        on node: SimulatedNode, _ room: RoomID, _ body: (SimulatedApp, Int, SimulatedApp.Follow) -> Void
    ) {
        for app in apps {
            guard let socket = app.socket, socket.node === node,
                let place = socket.follows.firstIndex(where: { $0.room == room && $0.isFollowing })
            else { continue }
            body(app, place, socket.follows[place])
        }
    }

    private func catchUp(_ app: SimulatedApp, _ place: Int, _ wish: SubscriptionWish) {
        guard let socket = app.socket else { return }
        app.socket?.follows[place].isCatchingUp = true
        let follow = socket.follows[place]
        socket.node.follow(
            SubscriptionRequest(
                connection: follow.id, asker: Asker(app.session.id, from: nil), wish, feed: socket.node.feed),
            follow.room)
    }

    private func began(_ subscription: Subscription) -> Bool {
        guard let (app, place) = follower(subscription.connection) else { return false }
        app.socket?.follows[place].isFollowing = true
        app.socket?.follows[place].isCatchingUp = false
        app.socket?.follows[place].sent = subscription.seq
        for message in subscription.messages { deliver(message.bytes, app, .news) }
        if !subscription.isCatchUp { app.socket?.isWaiting = false }
        workOff(app)
        return true
    }

    private func appRefused(_ refused: RefusedSubscription) -> Bool {
        guard let (app, place) = follower(refused.connection) else { return false }
        guard !refused.wish.isCatchUp, let id = refused.wish.id else {
            // The omitted deltas cannot be had, or the room's own socket is of no use.
            guard let socket = app.socket else { return true }
            let code: UInt16? = Self.error(refused.failure).0 == .banned ? 4_403 : nil
            hangUp(app)
            feed(app) { $0.closed(socket.attempt, code: code, at: $1) }
            return true
        }
        app.socket?.follows.remove(at: place)
        let (code, wait) = Self.error(refused.failure)
        deliver(ServerMessage.error(re: id, code: code, message: "no", retryAfterMs: wait), app, .news)
        app.socket?.isWaiting = false
        workOff(app)
        return true
    }
}
