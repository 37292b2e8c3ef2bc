import RoomWire

/// What comes from the client.
extension Player {
    /// A handshake has arrived; `token` is that of its `Authorization`, nil if there is none.
    package mutating func opening(_ connection: Int, path: String, token: String?, at now: Int64) -> [PlayerStep] {
        transcriptLines.note("client opens \(path)", at: now - begin)
        guard !isOver else { return [] }
        guard token == self.token else {
            steps.append(Self.problem(connection, .init(status: 401, code: "unauthorized")))
            fail("the handshake of \(path) has no token, or another one")
            return finish(at: now)
        }
        guard let asked = AskedPath(path), asked.room == nil || asked.room.flatMap({ id(of: $0) }) != nil else {
            steps.append(Self.problem(connection, .init(status: 404, code: "not_found")))
            fail("a handshake asks for \(path), where no socket of this conversation is")
            return finish(at: now)
        }
        attempts.append(Attempt(connection: connection, path: asked, at: now))
        advance(at: now)
        return finish(at: now)
    }

    /// A text message has arrived.
    package mutating func received(_ bytes: [UInt8], on connection: Int, at now: Int64) -> [PlayerStep] {
        guard !isOver, let open = connections[connection], !open.isMuted else { return [] }
        guard let message = try? JSONValue(parsing: bytes), let type = message.object?["type"]?.string else {
            fail("the client has sent what is no message: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
            return finish(at: now)
        }
        note("client →", message, at: now)
        if answersItself(type, message, connection, at: now) { return finish(at: now) }
        let name = message.object?["room"]?.string
        guard let room = name.map({ id(of: $0) }) ?? .some(nil) else {
            fail("the client names a room that is none of this conversation: \(name ?? "")")
            return finish(at: now)
        }
        arrived.append(Arrived(connection: connection, message: message, type: type, room: room, at: now))
        advance(at: now)
        return finish(at: now)
    }

    /// A connection has ended, with a close code if the client gave one.
    package mutating func closed(_ connection: Int, code: UInt16?, at now: Int64) -> [PlayerStep] {
        attempts.removeAll { $0.connection == connection }
        if connections.removeValue(forKey: connection) != nil {
            transcriptLines.note("client closes\(code.map { " with \($0)" } ?? "")", at: now - begin)
        }
        followed = followed.filter { $0.value != connection }
        advance(at: now)
        return finish(at: now)
    }

    /// A request that is no handshake.
    package mutating func requested(_ request: Int, method: String, path: String, at now: Int64) -> [PlayerStep] {
        transcriptLines.note("client asks \(method) \(path)", at: now - begin)
        let plain = path.split(separator: "?", omittingEmptySubsequences: false)[0]
        if let refusal {
            steps.append(.respond(request: request, status: refusal.status, body: refusal.body))
        } else if method == "GET", plain == "/v1/session" {
            let body = JSONValue.object(JSONObject([.init(name: "session", value: Self.session)]))
            steps.append(.respond(request: request, status: 200, body: Transcript.bytes(body)))
        } else if method == "GET", plain.hasPrefix("/v1/rooms/"), plain.hasSuffix("/events") {
            steps.append(
                .respond(request: request, status: 200, body: Array(#"{"epoch":"-","events":[],"seq":0}"#.utf8)))
        } else {
            let refusal = Conversation.Refusal(status: 503, code: "unavailable")
            steps.append(.respond(request: request, status: refusal.status, body: refusal.body))
        }
        return finish(at: now)
    }

    /// Answers what a client may ask at any time, and no conversation is about.
    private mutating func answersItself(
        _ type: String, _ message: JSONValue, _ connection: Int, at now: Int64
    ) -> Bool {
        let id = message.object?["id"] ?? .null
        var writer = JSONWriter()
        writer.beginObject()
        switch type {
        case "time":
            writer.member("type", "time")
            writer.name("re")
            writer.value(id)
            writer.name("t1")
            writer.value(message.object?["t1"] ?? .null)
            writer.member("t2", Double(time(at: now)))
            writer.member("t3", Double(time(at: now)))
        case "statistics", "trending":
            writer.member("type", "error")
            writer.name("re")
            writer.value(id)
            writer.member("code", "not_found")
            writer.member("message", "nothing is counted here")
        case "statisticsStop", "trendingStop", "nearbyStop":
            writer.member("type", "ok")
            writer.name("re")
            writer.value(id)
        default: return false
        }
        writer.endObject()
        steps.append(.send(connection, writer.bytes))
        return true
    }

    // MARK: Handshakes

    /// Accepts a handshake that waits, and greets; a room's socket asks for the room.
    mutating func accept(_ place: Int, at now: Int64) {
        let attempt = attempts.remove(at: place)
        let room = attempt.path.room.flatMap { id(of: $0) }
        connections[attempt.connection] = Connection(room: room)
        refusal = nil
        steps.append(.accept(attempt.connection))
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("type", "welcome")
        writer.name("session")
        writer.value(Self.session)
        writer.name("server")
        writer.value(
            .object(
                JSONObject([
                    .init(name: "version", value: .string("1")), .init(name: "node", value: .string("rehearsal")),
                ])))
        writer.member("beatMs", conversation.beatMs)
        writer.member("time", time(at: now))
        writer.endObject()
        steps.append(.send(attempt.connection, writer.bytes))
        guard let room else { return }
        var question = JSONObject([
            .init(name: "type", value: .string("subscribe")), .init(name: "room", value: .string(room)),
        ])
        if let position = attempt.path.position { question.members.append(.init(name: "position", value: position)) }
        arrived.append(
            Arrived(
                connection: attempt.connection, message: .object(question), type: "subscribe", room: room,
                at: attempt.at))
    }

    static func problem(_ connection: Int, _ refusal: Conversation.Refusal) -> PlayerStep {
        .refuse(connection, status: refusal.status, body: refusal.body)
    }

    // MARK: Rooms and time

    /// The id of a room that a client names by its id or its code; nil for any other.
    func id(of name: String) -> String? {
        guard let reference = RoomReference(name) else { return nil }
        return conversation.rooms.values.first { room in
            RoomReference(room.id) == reference || RoomReference(room.code) == reference
        }?.id
    }

    /// The server's time.
    func time(at now: Int64) -> Int64 { Self.serverTime + now - begin + passedMs }
}

extension Conversation.Refusal {
    /// RFC 9457's problem.
    var body: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("type", "about:blank")
        writer.member("title", code)
        writer.member("status", status)
        writer.member("code", code)
        writer.member("detail", "it is refused")
        writer.member("retryAfterMs", retryAfterMs)
        writer.endObject()
        return writer.bytes
    }
}
