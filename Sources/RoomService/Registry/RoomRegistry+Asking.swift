import NIOCore
package import RoomDomain
package import RoomWire

extension RoomRegistry {
    // MARK: Commanding

    /// Sends a command to a room and returns its outcome.
    package func command(
        _ command: RoomCommand, to room: RoomID, by actor: Actor, key: String?, from network: UInt64? = nil,
        countNewcomer: (@Sendable () -> Int?)? = nil
    ) async -> CommandOutcome {
        await withCheckedContinuation { continuation in
            submit(
                CommandRequest(
                    actor: actor, key: key, command: command, network: network, countNewcomer: countNewcomer
                ) {
                    continuation.resume(returning: $0)
                }, to: room)
        }
    }

    /// Sends a command to a room.
    ///
    /// Requests from one event loop to one room keep their order.
    package func submit(_ request: CommandRequest, to room: RoomID) {
        var request = request
        let (loop, metrics) = (table(of: room).loop, dependencies.metrics)
        let start = loop.now
        let (kind, reply) = (request.command.kind, request.reply)
        request.reply = { outcome in
            metrics.answered(kind, outcome, after: loop.now - start)
            reply(outcome)
        }
        visit(room) { [request] result in
            switch result {
            case .success(let room): room.assumeIsolated { $0.submit(request) }
            case .failure(let failure): request.reply(.failed(failure))
            }
        }
    }

    // MARK: Looking

    /// Returns the current room as the session sees it.
    package func view(_ room: RoomID, for session: SessionID) async throws(RoomFailure) -> RoomView {
        let result: Result<RoomView, RoomFailure> = await withCheckedContinuation { continuation in
            visitVerified(room) { result in
                switch result {
                case .success(let room):
                    room.assumeIsolated { $0.look(for: session) { continuation.resume(returning: $0) } }
                case .failure(let failure): continuation.resume(returning: .failure(failure))
                }
            }
        }
        return try result.get()
    }

    /// Tells whether a session may look at a room.
    ///
    /// `reply` is called once, on any thread; at once, if the room is in memory and belongs to the calling event loop.
    /// A ban is first checked against the log, because another server may have lifted it.
    package func admit(
        _ session: SessionID, to room: RoomID, _ reply: @escaping @Sendable (Result<Void, RoomFailure>) -> Void
    ) {
        visit(room) { result in
            switch result {
            case .success(let room):
                room.assumeIsolated { room in
                    guard room.refusal(of: session) != nil else { return reply(.success(())) }
                    room.verify {
                        room.assumeIsolated { room in
                            reply(room.refusal(of: session).map { .failure(.refused($0)) } ?? .success(()))
                        }
                    }
                }
            case .failure(let failure):
                reply(.failure(failure))
            }
        }
    }

    // MARK: Following

    /// Lets a connection follow a room; the request's feed receives the answer.
    package func subscribe(_ request: SubscriptionRequest, to room: RoomID) {
        visit(room) { result in
            switch result {
            case .success(let room): room.assumeIsolated { $0.subscribe(request) }
            case .failure(.noSuchRoom): request.feed.tell(.refused(RefusedSubscription(request, .noSuchRoom)))
            case .failure: request.feed.tell(.refused(RefusedSubscription(request, .unavailable)))
            }
        }
    }

    /// Ends a connection's subscription.
    package func unsubscribe(_ connection: ConnectionID, from room: RoomID, because end: SubscriptionEnd) {
        visit(room) { result in
            guard case .success(let room) = result else { return }
            room.assumeIsolated { $0.unsubscribe(connection, because: end) }
        }
    }

    // MARK: Reactions, signals, decks

    /// Shows a member's reaction to everybody in a room; `reply` is called once, on any thread.
    package func react(
        _ emoji: String, in room: RoomID, by session: SessionID, _ reply: @escaping @Sendable (EphemeralOutcome) -> Void
    ) {
        perform(.reaction(emoji), in: room, by: session, reply)
    }

    /// Sends a signal to all connections of a member that follow the room, on any server; `reply` is called once, on
    /// any thread.
    ///
    /// A signal that reached another server may still be lost there if that server dies or the member leaves it.
    package func signal(
        _ data: RelayedJSON, to recipient: MemberID, in room: RoomID, by session: SessionID,
        _ reply: @escaping @Sendable (EphemeralOutcome) -> Void
    ) {
        perform(.signal(data, to: recipient), in: room, by: session, reply)
    }

    /// Makes a connection the deck of a room that it follows, or ends that; `reply` is called once, on any thread.
    package func claimDeck(
        _ isOn: Bool, in room: RoomID, by session: SessionID, on connection: ConnectionID,
        _ reply: @escaping @Sendable (EphemeralOutcome) -> Void
    ) {
        perform(.claimDeck(isOn, on: connection), in: room, by: session, reply)
    }

    private func perform(
        _ request: EphemeralRequest, in room: RoomID, by session: SessionID,
        _ reply: @escaping @Sendable (EphemeralOutcome) -> Void
    ) {
        let metrics = dependencies.metrics
        visit(room) { result in
            switch result {
            case .success(let room):
                room.assumeIsolated { room in
                    room.perform(request, by: session) { outcome in
                        metrics.answered(request.kind, outcome.kind)
                        reply(outcome)
                    }
                }
            case .failure(let failure): reply(.failed(failure))
            }
        }
    }
}
