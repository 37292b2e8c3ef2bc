import RoomDomain
import RoomWire

/// The life of the connection, as the shell tells it.
extension ClientMachine {
    /// Connects, and stays connected until ``stop(at:)``.
    package mutating func start(at now: ClientMoment) -> [ClientStep] {
        isSuspended = false
        carry(connecting.start(), at: now)
        return finish(at: now)
    }

    /// The app goes to the background: as ``stop(at:)``, until ``wake(at:)``.
    package mutating func suspend(at now: ClientMoment) -> [ClientStep] {
        let wasOn = !connecting.isOff || isSuspended
        let steps = stop(at: now)
        isSuspended = wasOn
        return steps
    }

    /// Closes the connection and connects no more until ``start(at:)``.
    ///
    /// Everything is kept that was not, and no moment is waited for.
    package mutating func stop(at now: ClientMoment) -> [ClientStep] {
        isSuspended = false
        carry(connecting.stop(code: 1_001), at: now)
        disconnected(at: now)
        for index in rooms.indices { save(index, at: nil) }
        return finish(at: now)
    }

    /// The app or the network is back: probes the socket, or connects within 250 ms.
    package mutating func wake(at now: ClientMoment) -> [ClientStep] {
        if isSuspended {
            return start(at: now)
        } else if connecting.isOpen {
            measure(at: now)
            liveness.probe(at: now.instant)
        } else {
            carry(connecting.wake(at: now), at: now)
        }
        return finish(at: now)
    }

    /// The socket of an attempt is open.
    package mutating func opened(_ attempt: Int, at now: ClientMoment) -> [ClientStep] {
        guard connecting.opened(attempt, at: now.instant) else { return finish(at: now) }
        liveness.begin(at: now.instant)
        leavings = 0
        for index in rooms.indices {
            var isAsked = false
            if case .room(rooms[index].reference, _) = path { isAsked = true }
            carry(rooms[index].following.connected(isAsked: isAsked), index, at: now)
        }
        carry(circles.connected(), at: now)
        return finish(at: now)
    }

    /// The server did not open the socket of an attempt.
    package mutating func failed(
        _ attempt: Int, _ refusal: Refusal? = nil, at now: ClientMoment
    ) -> [ClientStep] {
        guard connecting.attempt == attempt else { return finish(at: now) }
        if let refusal { take(refusal, at: now) }
        lost(attempt, leastMs: Int64(refusal?.retryAfterMs ?? 0), at: now)
        return finish(at: now)
    }

    /// What a refused handshake says of the session, or of the socket's room.
    private mutating func take(_ refusal: Refusal, at now: ClientMoment) {
        switch refusal.code.code {
        case .unauthorized: end(refusal, at: now)
        case .banned, .notFound: endRoom(of: path, refusal, at: now)
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .forbidden, .notMember, .conflict,
            .roomClosed, .tooLarge, .limitReached, .rateLimited, .internal, .unavailable, .outcomeUnknown, nil:
            break
        }
    }

    /// The socket of an attempt has closed, with a code if the server gave one.
    package mutating func closed(_ attempt: Int, code: UInt16? = nil, at now: ClientMoment) -> [ClientStep] {
        guard connecting.attempt == attempt else { return finish(at: now) }
        // Protocol, section 3: 4401 session ended, 4403 banned, 4404 room removed.
        switch code {
        case 4_401: end(Refusal(ErrorName(.unauthorized)), at: now)
        case 4_403: endRoom(of: path, Refusal(ErrorName(.banned)), at: now)
        case 4_404: endRoom(of: path, Refusal(ErrorName(.notFound)), at: now)
        default: break
        }
        lost(attempt, at: now)
        return finish(at: now)
    }

    /// The moment that was asked for has come.
    package mutating func woken(at now: ClientMoment) -> [ClientStep] {
        wakeAt = nil
        switch liveness.look(at: now.instant) {
        case .alive: break
        case .silent:
            disconnected(at: now)
            carry(connecting.replace(at: now, atOnce: false), at: now)
        case .probeUnanswered:
            disconnected(at: now)
            carry(connecting.replace(at: now, atOnce: true), at: now)
        }
        if let due = clock.due(isPlaying: isPlaying), due <= now.instant { measure(at: now) }
        carry(circles.tick(at: now.instant), at: now)
        for index in rooms.indices { carry(rooms[index].following.tick(at: now.instant), index, at: now) }
        return finish(at: now)
    }

    private mutating func lost(_ attempt: Int, leastMs: Int64 = 0, at now: ClientMoment) {
        guard let next = connecting.lost(attempt, at: now, leastMs: leastMs) else { return }
        disconnected(at: now)
        carry(next, at: now)
    }

    private mutating func disconnected(at now: ClientMoment) {
        liveness.end()
        clock.stop()
        circles.disconnected()
        for number in tellings.values {
            steps.append(.told(number, Refusal(ErrorName(.unavailable), "the connection is lost")))
        }
        tellings = [:]
        for index in rooms.indices {
            rooms[index].commands.connectionLost()
            rooms[index].claim.disconnected()
            carry(rooms[index].following.disconnected(), index, at: now)
        }
    }

    private mutating func endRoom(of path: SocketPath, _ refusal: Refusal, at now: ClientMoment) {
        guard case .room(let reference, _) = path, let index = rooms.firstIndex(where: { $0.reference == reference })
        else { return }
        carry(rooms[index].following.refused(refusal, at: now), index, at: now)
    }

    /// The session is over.
    private mutating func end(_ refusal: Refusal, at now: ClientMoment) {
        _ = connecting.stop(code: 1_000)
        disconnected(at: now)
        for index in rooms.indices {
            carry(rooms[index].following.refused(refusal, at: now), index, at: now)
        }
        steps.append(.ended(refusal.ending))
    }
}
