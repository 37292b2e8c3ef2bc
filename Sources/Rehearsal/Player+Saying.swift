import RoomWire

/// What the server says.
extension Player {
    /// Sends a message where it belongs.
    ///
    /// An answer goes where its question came from, a message about a room where that is followed, any other one
    /// everywhere. A beat names the rooms of each connection only.
    mutating func say(_ message: JSONValue, at now: Int64) -> Progress {
        guard let message = filled(message), let object = message.object else { return .waiting }
        note("server →", message, at: now)
        if let re = object["re"], let asked = taken.last(where: { $0.id == re }) {
            return send(message, on: asked.connection)
        }
        let named = object["room"] ?? object["state"]?.object?["id"]
        if let room = named?.string.flatMap({ id(of: $0) }) {
            guard let connection = followed[room] else {
                fail("the client has no connection for the room any more")
                return .waiting
            }
            if object["type"] == .string("ended") { connections[connection]?.ended.insert(room) }
            return send(message, on: connection)
        }
        for (connection, open) in connections.sorted(by: { $0.key < $1.key }) where !open.isMuted {
            _ = send(narrowed(object, to: connection), on: connection)
        }
        return .done
    }

    private mutating func send(_ message: JSONValue, on connection: Int) -> Progress {
        guard connections[connection] != nil else {
            fail("the client has closed the connection")
            return .waiting
        }
        steps.append(.send(connection, Transcript.bytes(message)))
        return .done
    }

    private func narrowed(_ message: JSONObject, to connection: Int) -> JSONValue {
        guard message["type"] == .string("beat"), let rooms = message["rooms"]?.object else { return .object(message) }
        var names = JSONObject()
        for member in rooms.members {
            // The name of a member may be a variable too.
            guard case .string(let room)? = filledOrNil(.string(member.name)), followed[room] == connection else {
                continue
            }
            names.members.append(.init(name: room, value: member.value))
        }
        var narrowed = JSONObject(message.members.filter { $0.name != "rooms" })
        narrowed.members.append(.init(name: "rooms", value: .object(names)))
        return .object(narrowed)
    }

    /// Closes connections; on one that is for any room, the end of a room is a message.
    mutating func close(_ code: UInt16, _ name: String?, at now: Int64) -> Progress {
        transcriptLines.note("server closes with \(code)", at: now - begin)
        // Protocol, section 3: 4401 session ended, 4403 banned, 4404 room removed.
        switch code {
        case 4_401: refusal = .init(status: 401, code: "unauthorized")
        case 4_403: refusal = .init(status: 403, code: "banned")
        case 4_404: refusal = .init(status: 404, code: "not_found")
        default: break
        }
        guard let name else {
            for connection in connections.keys.sorted() { steps.append(.close(connection, code: code)) }
            forgetConnections()
            return .done
        }
        guard case .string(let room)? = filled(.string(name)) else { return .waiting }
        guard let connection = followed.removeValue(forKey: room), let open = connections[connection] else {
            fail("the client has no connection for the room any more")
            return .waiting
        }
        if open.room == room {
            steps.append(.close(connection, code: code))
            connections[connection] = nil
            followed = followed.filter { $0.value != connection }
        } else if !open.ended.contains(room) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("type", "ended")
            writer.member("room", room)
            writer.member("code", refusal?.code ?? "not_found")
            writer.endObject()
            steps.append(.send(connection, writer.bytes))
        }
        return .done
    }

    /// Answers a question for a room with an error.
    mutating func deny(_ asked: Arrived, _ refusal: Conversation.Refusal, at now: Int64) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("type", "error")
        writer.name("re")
        writer.value(asked.message.object?["id"] ?? .null)
        writer.member("code", refusal.code)
        writer.member("message", "it is refused")
        writer.member("retryAfterMs", refusal.retryAfterMs)
        writer.endObject()
        transcriptLines.note("server → " + String(decoding: writer.bytes, as: UTF8.self), at: now - begin)
        steps.append(.send(asked.connection, writer.bytes))
    }

    mutating func forgetConnections() {
        connections = [:]
        followed = [:]
    }
}
