import RoomDomain
import RoomService
import RoomWire
import SimulatedTime

extension World {
    /// Drops a connection, makes one, or keeps it.
    func changeConnection(of client: Client, to room: RoomID) {
        if let connection = client.connections.first(where: { $0.room == room }) {
            if dice.once(in: 2) { drop(connection.id, of: client, because: dice.once(in: 3) ? .asked : .lost) }
        } else {
            connect(client, to: room)
        }
    }

    /// Follows a room from the client's position, now and then from the beginning or from an earlier position.
    func connect(_ client: Client, to room: RoomID) {
        guard let node = someNode else { return }
        lastConnection += 1
        let id = ConnectionID(rawValue: lastConnection)
        var position = dice.once(in: 8) ? nil : client.positions[room]
        if let known = position, dice.once(in: 8) { position = (known.epoch, dice.number(in: 0...known.seq)) }
        client.positions[room] = position
        forgetLoss(of: client, in: room, on: node)
        client.connections.append(Client.Connection(id: id, node: node, room: room))
        let from = position.map { "\($0.seq)" } ?? "nothing"
        truth.note("\(client.session.name) follows \(room) on \(node.name) as \(id.rawValue) from \(from)")
        node.follow(
            SubscriptionRequest(
                connection: id, asker: Asker(client.session.id, from: nil),
                .begin(id: Int64(id.rawValue), from: position.map { Position(epoch: $0.epoch, seq: $0.seq) }),
                feed: node.feed),
            room)
    }

    /// Loses a connection, or unsubscribes.
    func drop(_ id: ConnectionID, of client: Client, because end: SubscriptionEnd = .lost) {
        guard let place = client.connections.firstIndex(where: { $0.id == id }) else { return }
        let connection = client.connections.remove(at: place)
        truth.note("\(client.session.name) loses connection \(id.rawValue): \(end)")
        switch end {
        case .asked: forgetLoss(of: client, in: connection.room, on: connection.node)
        case .lost: noteLoss(of: connection, by: client)
        }
        connection.node.unfollow(id, connection.room, because: end)
    }

    // MARK: Messages from the servers

    func heard(_ news: SimulatedFeed.News, from life: Int) {
        guard lives.indices.contains(life), !lives[life].hasCrashed else { return }
        let node = lives[life]
        if appsHeard(news, from: node) { return }
        switch news {
        case .moved(let update): moved(update, node)
        case .shown(let message): shown(message, node)
        case .deckMoved(let change): deckMoved(change, node)
        case .began(let subscription, let epoch): began(subscription, epoch: epoch, node)
        case .refused(let subscription): refused(subscription)
        case .banned(let session, let room):
            for client in clients where client.session.id == session {
                client.connections.removeAll { $0.node === node && $0.room == room && $0.isFollowing }
            }
        case .anew(let room): beganAnew(room, node)
        }
    }

    private func moved(_ update: PublishedEvents, _ node: SimulatedNode) {
        for client in clients {
            for (place, connection) in client.connections.enumerated().reversed()
            where connection.node === node && connection.room == update.room && connection.isFollowing {
                guard let reached = client.positions[update.room]?.seq else { continue }
                if connection.isCatchingUp { continue }
                // A subscription that began after this event already has it, and is not sent it again.
                if update.from != reached + 1 {
                    truth.complain(
                        "\(client.session.name) at \(reached) gets \(update.from)…\(update.seq) on \(node.name)")
                }
                switch isSettling ? -1 : dice.number(in: 0..<40) {
                case 0:
                    drop(connection.id, of: client)
                case 1:
                    client.connections[place].isCatchingUp = true
                    node.follow(
                        SubscriptionRequest(
                            connection: connection.id, asker: Asker(client.session.id, from: nil),
                            .collapse(from: update.from),
                            feed: node.feed),
                        update.room)
                default:
                    client.positions[update.room]?.seq = update.seq
                }
            }
        }
    }

    /// Applies a frame's changes of online members.
    private func shown(_ message: EphemeralMessage, _ node: SimulatedNode) {
        guard case .presence = message.kind, let frame = PresenceFrame(message.message) else { return }
        expectGrace(for: frame.off.contains, in: message.room, on: node)
        for client in clients {
            for place in client.connections.indices
            where client.connections[place].node === node && client.connections[place].room == message.room
                && client.connections[place].isFollowing
            {
                client.connections[place].online.formUnion(frame.on)
                client.connections[place].online.subtract(frame.off)
                let online = client.connections[place].online
                if frame.online != online.count, !client.connections[place].isCatchingUp {
                    truth.complain("\(frame.online) are said to be online, and \(online.sorted()) are")
                }
            }
        }
    }

    /// Earlier messages are void: all followers subscribe anew.
    private func beganAnew(_ room: RoomID, _ node: SimulatedNode) {
        for client in clients {
            for (place, connection) in client.connections.enumerated()
            // A follower that waits for a snapshot gets one of the new log.
            where connection.node === node && connection.room == room && connection.isFollowing
                && !connection.isCatchingUp
            {
                client.connections[place].isCatchingUp = true
                node.follow(
                    SubscriptionRequest(
                        connection: connection.id, asker: Asker(client.session.id, from: nil), .anew, feed: node.feed),
                    room)
            }
        }
    }

    private func began(_ subscription: Subscription, epoch: String, _ node: SimulatedNode) {
        let (id, room) = (subscription.connection, subscription.room)
        for client in clients {
            guard let place = client.connections.firstIndex(where: { $0.id == id }) else { continue }
            truth.note("\(client.session.name) follows as \(id.rawValue) at \(subscription.seq)")
            if !client.connections[place].isFollowing { client.connections[place].since = scheduler.now }
            client.connections[place].isFollowing = true
            client.connections[place].isCatchingUp = false
            let online = PresenceFrame(endOf: subscription.messages[0].bytes)?.on ?? []
            expectGrace(for: { !online.contains($0) }, in: room, on: node)
            client.connections[place].online = online
            client.connections[place].deck = ToldDeck(subscription.messages[0].bytes, member: "deck")
            client.positions[room] = (epoch, subscription.seq)
            return
        }
        // It was closed while it waited: the room may have added it after that.
        node.unfollow(id, room, because: .lost)
    }

    /// Complains about every connection that has followed a room since `moved` and has not been sent an event.
    func expectAll(of room: RoomID, at seq: Int, since moved: Int64) {
        for client in clients {
            for connection in client.connections where connection.room == room && connection.isFollowing {
                let reached = client.positions[room]?.seq ?? 0
                guard connection.since < moved, !connection.isCatchingUp, reached < seq else { continue }
                truth.complain(
                    "\(client.session.name) on \(connection.node.name) has heard of \(reached), not of \(seq) of \(room)"
                )
            }
        }
    }

    private func refused(_ refused: RefusedSubscription) {
        for client in clients {
            guard let connection = client.connections.first(where: { $0.id == refused.connection }) else { continue }
            truth.note("\(client.session.name) may not follow as \(refused.connection.rawValue): \(refused.failure)")
            // A session banned briefly while the past was read was not told of the ban.
            if plan.isCalm, refused.failure == .unavailable, !truth.hasBanned(client.session.id, from: connection.room)
            {
                truth.complain("\(client.session.name) may not follow, and nothing is wrong")
            }
            // The omitted deltas cannot be had: the client reconnects.
            drop(connection.id, of: client)
        }
    }
}
