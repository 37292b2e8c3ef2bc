import EventStorage
import FoundationEssentials
import GeoSearch
import NIOCore
package import RoomDomain
import RoomLog
package import RoomWire

extension RoomHost {
    // MARK: Commanding

    /// Sends a command to a room and returns what becomes of it.
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
        request.command = rounded(request.command)
        let (start, metrics) = (NIODeadline.now(), metrics)
        let (kind, reply) = (request.command.kind, request.reply)
        request.reply = { outcome in
            metrics.answered(kind, outcome, after: .now() - start)
            reply(outcome)
        }
        visit(room) { [request] result in
            switch result {
            case .success(let room): room.assumeIsolated { $0.submit(request) }
            case .failure(let failure): request.reply(.failed(failure))
            }
        }
    }

    /// A location is rounded to its cell before anything else sees it.
    private func rounded(_ command: RoomCommand) -> RoomCommand {
        guard case .updateRoom(var update) = command else { return command }
        update.location = update.location?.rounded(toCellsOf: settings.locationPrecisionMeters)
        return .updateRoom(update)
    }

    // MARK: Making

    /// Makes a room and looks at it, or finds the one that the same session made under the same key within 24 hours;
    /// ``RoomView/isNew`` tells which.
    package func createRoom(
        _ wanted: CreateRoomRequest, by session: Session, key: String?, from network: UInt64? = nil
    ) async throws(CreationFailure) -> RoomView {
        do {
            try shares.charge(LogShares.costOfRoom, to: session.id, in: nil, from: network, at: .now())
        } catch {
            throw .failed(.refused(error))
        }
        let now = clock.now
        // A code may be taken by one of the open rooms: chances are one in a billion a room.
        for _ in 0..<8 {
            let id = RoomID(UUID.makeV7(at: now, random: (randomness.next(), randomness.next())))
            let visibility = wanted.visibility ?? .public
            let founding = RoomFounding(
                id: id, code: RoomCode(random: randomness.next(), length: visibility.codeLength), name: wanted.name,
                location: wanted.location?.rounded(toCellsOf: settings.locationPrecisionMeters),
                visibility: visibility, settings: wanted.settings,
                founder: session.id, founderName: session.name)
            let (creation, state) = try creation(of: founding, fingerprint: wanted.fingerprint, key: key, at: now)
            let outcome: CreationOutcome
            do {
                outcome = try await store.create(creation)
                if outcome == .created { health.wrote() }
            } catch {
                health.failed(error)
                throw .failed(RoomFailure(error))
            }
            switch outcome {
            case .created:
                return RoomView(
                    room: id, epoch: creation.epoch, seq: state.seq, time: now,
                    state: SharedState(seq: state.seq, StateJSON.encode(state)),
                    you: YouJSON.encode(state, session.id), presence: Presence(online: 0, members: []), isNew: true)
            case .codeTaken: continue
            case .existing(let stream, let fingerprint):
                guard [wanted.fingerprint, CommandKey.forgotten].contains(fingerprint) else { throw .keyReused }
                do {
                    return try await view(RoomID(stream), for: session.id)
                } catch {
                    throw .failed(error)
                }
            case .ownerLimitReached:
                let text = "a session may own at most \(RoomLimits.openRoomsPerSession) open rooms"
                throw .failed(.refused(.limitReached(text)))
            }
        }
        throw .failed(.unavailable)
    }

    private func creation(
        of founding: RoomFounding, fingerprint: Int64, key: String?, at now: Timestamp
    ) throws(CreationFailure) -> (StreamCreation, RoomState) {
        var state = RoomState(id: founding.id)
        let events: [RecordedEvent]
        do {
            events = state.recorded(try RoomState.found(founding), at: now)
        } catch {
            throw .failed(.refused(error))
        }
        for event in events { state.evolve(event) }
        let first = StreamAppend(
            stream: founding.id.uuid, expected: .start, events: events.map { EventJSON.stored($0, in: founding.id) },
            directory: DirectoryEntry(of: state), joined: [founding.founder.uuid])
        let epoch = EpochRenewal(of: founding.id, random: randomness.next())
        let creation = StreamCreation(
            first: first, epoch: epoch.epoch, checksum: epoch.checksum, creator: founding.founder.uuid, key: key,
            fingerprint: fingerprint, at: now.milliseconds, keysSince: now.milliseconds - 24 * 3_600_000,
            ownerLimit: RoomLimits.openRoomsPerSession)
        return (creation, state)
    }

    // MARK: Looking

    /// A room as it is.
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

    /// Tells whether a session may look at a room; `reply` is called once, on any thread, at once where the room is in
    /// memory and belongs to the calling event loop; a refusal that another server may have lifted is looked up first.
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

    /// Lets a connection follow a room; the request's feed is told what comes of it.
    package func subscribe(_ request: SubscriptionRequest, to room: RoomID) {
        visit(room) { result in
            switch result {
            case .success(let room): room.assumeIsolated { $0.subscribe(request) }
            case .failure(.noSuchRoom): request.feed.subscriptionRefused(request, because: .noSuchRoom)
            case .failure: request.feed.subscriptionRefused(request, because: .unavailable)
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

    // MARK: Ending sessions

    /// Those of `sessions` that another process may have ended; none while that cannot be found out, or where nobody
    /// else writes the log.
    package func endedElsewhere(_ sessions: [SessionID]) async -> [SessionID] {
        guard settings.logIsShared, !sessions.isEmpty else { return [] }
        let ended = (try? await store.endedSessions(among: sessions.map(\.uuid))) ?? []
        return ended.map { SessionID($0) }
    }

    /// Ends a session: its token is dead when this returns, its memberships follow.
    package func endSession(_ session: SessionID) async throws(RoomFailure) {
        do {
            try await sessions.end(session)
        } catch {
            throw RoomFailure(error)
        }
        link?.tell(.sessionEnded(session))
        await finish(session, because: .sessionEnded)
    }
}
