import RoomWire

/// Plays lines, as far as what has come allows.
extension Player {
    /// What became of a line.
    enum Progress {
        /// The next line is to be played.
        case done
        /// Something has to come first.
        case waiting
    }

    var line: Conversation.Line? { conversation.lines.indices.contains(next) ? conversation.lines[next] : nil }

    mutating func advance(at now: Int64) {
        if question == .start {
            if begin + Self.answerMs <= now { fail("the program does not answer") }
            return
        }
        while !isOver {
            variables.now = time(at: now)
            guard let line else { return conclude() }
            guard line.condition.map({ !isUnbound($0) }) ?? true, line.exception.map({ isUnbound($0) }) ?? true else {
                moveOn()
                continue
            }
            lineBegan = lineBegan ?? now
            switch play(line, at: now) {
            case .done: moveOn()
            case .waiting: return
            }
        }
    }

    private func isUnbound(_ name: String) -> Bool { variables[name] == nil || variables[name] == .null }

    private mutating func moveOn() {
        next += 1
        lineBegan = nil
        askAgainAt = nil
        difference = nil
        answer = nil
    }

    private mutating func conclude() {
        guard arrived.isEmpty else { return fail("it is over, and the client has said more") }
        end(.passed)
    }

    /// The moment at which something has to be done.
    var due: Int64? {
        if question == .start { return begin + Self.answerMs }
        if question != .none { return (lineBegan ?? begin) + Self.answerMs + (line?.withinMs ?? 0) }
        guard let line, let lineBegan else { return nil }
        switch line.step {
        case .silent(let ms, _), .pass(let ms): return lineBegan + ms
        case .set, .send, .close, .drop, .dead, .act: return nil
        case .expect, .refuse, .left, .state: return min(askAgainAt ?? .max, lineBegan + line.withinMs)
        }
    }

    private mutating func play(_ line: Conversation.Line, at now: Int64) -> Progress {
        let began = lineBegan ?? now
        if question != .none {
            if began + Self.answerMs + line.withinMs <= now { fail("the program does not answer") }
            return .waiting
        }
        switch line.step {
        case .set(let object):
            for member in object.members {
                guard let value = filled(member.value) else { return .waiting }
                variables[member.name] = value
            }
            return .done
        case .act(let action): return act(action, at: now)
        case .expect(let pattern): return expect(pattern, line, began, at: now)
        case .send(let message): return say(message, at: now)
        case .close(let code, let room): return close(code, room, at: now)
        case .drop:
            transcriptLines.note("server cuts the connections", at: now - begin)
            for connection in connections.keys.sorted() { steps.append(.drop(connection)) }
            forgetConnections()
            return .done
        case .dead:
            transcriptLines.note("server says nothing more on the connections", at: now - begin)
            for connection in connections.keys.sorted() {
                connections[connection]?.isMuted = true
                steps.append(.mute(connection))
            }
            followed = [:]
            return .done
        case .refuse(let refusal, let room): return refuse(refusal, room, line, began, at: now)
        case .left(let name): return left(name, line, began, at: now)
        case .silent(let ms, let room): return silent(ms, room, began, at: now)
        case .pass(let ms): return pass(ms, began, at: now)
        case .state(let pattern, let room): return state(pattern, room, line, began, at: now)
        }
    }

    /// A value with the variables replaced; nil after a failure.
    func filledOrNil(_ value: JSONValue) -> JSONValue? { try? variables.filled(value) }

    mutating func filled(_ value: JSONValue) -> JSONValue? {
        do throws(Variables.Unbound) {
            return try variables.filled(value)
        } catch {
            fail("$\(error.name) has no value yet")
            return nil
        }
    }

    // MARK: The program

    private mutating func act(_ action: JSONValue, at now: Int64) -> Progress {
        if let answer {
            if let reason = answer["cannot"] { fail("the program cannot do it: \(Transcript.text(reason))") }
            return .done
        }
        guard let action = filled(action) else { return .waiting }
        tell(.act, "do", at: now) { $0.value(action) }
        return .waiting
    }

    private mutating func pass(_ ms: Int64, _ began: Int64, at now: Int64) -> Progress {
        guard can.contains("clock") else { return began + ms <= now ? .done : .waiting }
        if answer != nil { return .done }
        passedMs += ms
        tell(.act, "do", at: now) { writer in
            writer.beginObject()
            writer.member("type", "pass")
            writer.member("ms", ms)
            writer.endObject()
        }
        return .waiting
    }

    private mutating func state(
        _ pattern: JSONValue, _ room: String?, _ line: Conversation.Line, _ began: Int64, at now: Int64
    ) -> Progress {
        guard let found = look(room, at: now) else { return .waiting }
        var attempt = variables
        guard let difference = attempt.match(pattern, found, at: "") else {
            note("program → state", found, at: now)
            variables = attempt
            return .done
        }
        self.difference = difference
        if began + line.withinMs <= now {
            note("program → state", found, at: now)
            fail(difference)
        } else {
            askAgainAt = min(now + Self.lookMs, began + line.withinMs)
        }
        return .waiting
    }

    /// The client's state, if it was asked and has answered; else asks, when it is time.
    private mutating func look(_ room: String?, at now: Int64) -> JSONValue? {
        if let answer {
            self.answer = nil
            askAgainAt = nil
            if let state = answer["state"] { return state }
            fail("the program has not told its state: \(Transcript.text(.object(answer)))")
            return nil
        }
        if let askAgainAt, now < askAgainAt { return nil }
        let id = room.flatMap { name in filledOrNil(.string(name)) } ?? firstRoom
        tell(.state, "state", at: now) { $0.value(id) }
        return nil
    }

    private var firstRoom: JSONValue {
        let names = conversation.rooms.keys.sorted()
        return variables[names.contains("room") ? "room" : names.first ?? ""] ?? .null
    }

    // MARK: The client

    private mutating func expect(
        _ pattern: JSONValue, _ line: Conversation.Line, _ began: Int64, at now: Int64
    ) -> Progress {
        let type = pattern.object?["type"]?.string ?? ""
        var room: String?
        if let named = pattern.object?["room"], case .string(let id)? = filledOrNil(named) { room = id }
        // A room's socket is opened when its question is awaited, any other as soon as a message is.
        while let place = attempts.firstIndex(where: { attempt in
            guard let asked = attempt.path.room else { return true }
            return type == "subscribe" && id(of: asked) == room
        }) {
            accept(place, at: now)
        }
        let place = arrived.firstIndex { $0.type == type && (room == nil || $0.room == room) }
        guard let place else {
            if let instead = line.instead, let found = look(nil, at: now) {
                if variables.match(instead, found, at: "") == nil { return .done }
                askAgainAt = now + Self.lookMs
            }
            if began + line.withinMs <= now {
                fail("no message \(Transcript.text(pattern)) within \(line.withinMs) ms")
            }
            return .waiting
        }
        let message = arrived.remove(at: place)
        if let after = line.afterMs, message.at - began < after - Self.clockMs {
            fail("\(type) comes after \(message.at - began) ms, and should not before \(after) ms")
            return .waiting
        }
        if let difference = variables.match(pattern, message.message, at: "") {
            fail("\(type): \(difference)\n    it is \(Transcript.text(message.message))")
            return .waiting
        }
        if let id = message.message.object?["id"] { taken.append((id, message.connection)) }
        if type == "subscribe", let room = message.room { followed[room] = message.connection }
        return .done
    }

    private mutating func refuse(
        _ refusal: Conversation.Refusal, _ name: String?, _ line: Conversation.Line, _ began: Int64, at now: Int64
    ) -> Progress {
        if let name {
            guard case .string(let room)? = filled(.string(name)) else { return .waiting }
            while let place = attempts.firstIndex(where: { $0.path.room == nil }) { accept(place, at: now) }
            if let place = arrived.firstIndex(where: { $0.type == "subscribe" && $0.room == room }) {
                deny(arrived.remove(at: place), refusal, at: now)
                return .done
            }
        }
        self.refusal = refusal
        guard !attempts.isEmpty else {
            if began + line.withinMs <= now { fail("no handshake within \(line.withinMs) ms") }
            return .waiting
        }
        let attempt = attempts.removeFirst()
        if let after = line.afterMs, attempt.at - began < after - Self.clockMs {
            fail("a handshake comes after \(attempt.at - began) ms, and should not before \(after) ms")
            return .waiting
        }
        transcriptLines.note("server refuses with \(refusal.status) \(refusal.code)", at: now - begin)
        steps.append(Self.problem(attempt.connection, refusal))
        return .done
    }

    private mutating func left(
        _ name: String, _ line: Conversation.Line, _ began: Int64, at now: Int64
    ) -> Progress {
        guard case .string(let room)? = filled(.string(name)) else { return .waiting }
        if let place = arrived.firstIndex(where: { $0.type == "unsubscribe" && $0.room == room }) {
            let message = arrived.remove(at: place)
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("type", "ok")
            writer.name("re")
            writer.value(message.message.object?["id"] ?? .null)
            writer.endObject()
            steps.append(.send(message.connection, writer.bytes))
            followed[room] = nil
            return .done
        }
        if followed[room] == nil { return .done }
        if began + line.withinMs <= now { fail("the client still follows the room after \(line.withinMs) ms") }
        return .waiting
    }

    private mutating func silent(_ ms: Int64, _ room: String?, _ began: Int64, at now: Int64) -> Progress {
        if room != nil {
            while let place = attempts.firstIndex(where: { $0.path.room == nil }) { accept(place, at: now) }
        }
        guard arrived.isEmpty, attempts.isEmpty else {
            fail("the client should say nothing, and not connect")
            return .waiting
        }
        return began + ms <= now ? .done : .waiting
    }
}
