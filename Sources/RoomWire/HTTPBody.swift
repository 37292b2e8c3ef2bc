import ByteText
package import RoomDomain

/// The JSON bodies of HTTP answers (protocol, sections 1 and 2).
package enum HTTPBody {
    /// Writes `{"status":…}`: the condition of the server.
    package static func status(_ status: String) -> [UInt8] {
        Self.object { writer in writer.member("status", status) }
    }

    /// Writes `{"seq","keyed","result"?}`: the answer to a command that was carried out.
    package static func command(seq: Int, keyed: Int?, result: CommandResult?) -> [UInt8] {
        Self.object { writer in
            writer.member("seq", seq)
            writer.member("keyed", keyed)
            writer.member("result", raw: result.map(ResultJSON.encode))
        }
    }

    /// Writes `{"rooms":[RoomSummary],"next"?}`: a listing, a nearby search or a session's own rooms; `next` is nil on the last page.
    package static func rooms(_ rooms: [RoomSummary], next: String? = nil) -> [UInt8] {
        Self.object(capacity: 64 + rooms.count * 256) { writer in
            writer.member("rooms", rooms)
            writer.member("next", next)
        }
    }

    /// Writes `{"session":{"id","name","createdAt","expiresAt"}}`.
    package static func session(
        id: SessionID, name: String, createdAt: Timestamp, expiresAt: Timestamp
    ) -> [UInt8] {
        Self.object { writer in
            writer.member(session: id, name: name, createdAt: createdAt, expiresAt: expiresAt)
        }
    }

    /// Writes the same body with `"token"`, which only the answer that makes a session shows.
    package static func sessionWithToken(
        id: SessionID, name: String, createdAt: Timestamp, expiresAt: Timestamp, token: String
    ) -> [UInt8] {
        Self.object { writer in
            writer.member(session: id, name: name, createdAt: createdAt, expiresAt: expiresAt)
            writer.member("token", token)
        }
    }

    /// Writes a problem (RFC 9457), of media type `application/problem+json`.
    ///
    /// If `status` and `title` are left out, the code's own are used. `detail` is a sentence about the fault in this
    /// request; `retryAfterMs` is the time after which a retry may succeed, `reason` what a person gave as the reason
    /// for a ban.
    package static func problem(
        status: Int? = nil, code: ErrorCode, title: String? = nil, detail: String, retryAfterMs: Int? = nil,
        reason: String? = nil
    ) -> [UInt8] {
        let problem = Problem(
            title: title ?? code.title, status: status ?? code.httpStatus, code: ErrorName(code), detail: detail,
            retryAfterMs: retryAfterMs, reason: reason)
        return problem.encoded()
    }

    /// Writes an object with the members that `writeMembers` writes.
    static func object(capacity: Int = 256, _ writeMembers: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        writer.beginObject()
        writeMembers(&writer)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func member(
        session id: SessionID, name: String, createdAt: Timestamp, expiresAt: Timestamp
    ) {
        self.name("session")
        self.beginObject()
        self.member("id", id.uuid)
        self.member("name", name)
        self.member("createdAt", createdAt)
        self.member("expiresAt", expiresAt)
        self.endObject()
    }
}

// MARK: Reading

extension HTTPBody {
    /// The answer to a command.
    package struct CommandAnswer: Sendable, Equatable {
        /// The number of the last event that the command caused; the room's position if it changed nothing.
        package var seq: Int
        /// The room's count of keyed commands; nil if an earlier release answered.
        package var keyed: Int?
        /// The command's result.
        package var result: CommandResult?

        package init(seq: Int, keyed: Int?, result: CommandResult? = nil) {
            self.seq = seq
            self.keyed = keyed
            self.result = result
        }

        /// Reads the body.
        package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
            try JSONFields.answer(text.contiguous.span) { (fields) throws(FieldViolation) in
                Self(
                    seq: try fields.count("seq"), keyed: try fields.countIfPresent("keyed"),
                    result: try fields.resultIfPresent())
            }
        }

        /// Writes the body.
        package func encoded() -> [UInt8] { HTTPBody.command(seq: seq, keyed: keyed, result: result) }
    }

    /// A page of a listing, or the rooms of a nearby search.
    package struct RoomsAnswer: Sendable, Equatable {
        /// The rooms, in the answer's order.
        package var rooms: [RoomSummary]
        /// The cursor of the next page; nil on the last page.
        package var next: String?

        package init(rooms: [RoomSummary], next: String? = nil) {
            self.rooms = rooms
            self.next = next
        }

        /// Reads the body.
        package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
            try JSONFields.answer(text.contiguous.span) { (fields) throws(FieldViolation) in
                Self(
                    rooms: try fields.elements("rooms", RoomSummary.init), next: try fields.stringIfPresent("next"))
            }
        }

        /// Writes the body.
        package func encoded() -> [UInt8] { HTTPBody.rooms(rooms, next: next) }
    }

    /// A session.
    package struct SessionAnswer: Sendable, Equatable {
        /// The session's identifier.
        package var id: SessionID
        /// The session's name.
        package var name: String
        /// The time when it was made.
        package var createdAt: Timestamp
        /// The time when it ends if it is not used.
        package var expiresAt: Timestamp
        /// The bearer secret; nil unless this request made the session.
        package var token: String?

        package init(id: SessionID, name: String, createdAt: Timestamp, expiresAt: Timestamp, token: String? = nil) {
            self.id = id
            self.name = name
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.token = token
        }

        /// Reads the body.
        package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
            try JSONFields.answer(text.contiguous.span) { (fields) throws(FieldViolation) in
                var answer = try fields.object("session") { (fields) throws(FieldViolation) in
                    Self(
                        id: try fields.sessionID("id"), name: try fields.string("name"),
                        createdAt: try fields.instant("createdAt"), expiresAt: try fields.instant("expiresAt"))
                }
                answer.token = try fields.stringIfPresent("token")
                return answer
            }
        }

        /// Writes the body.
        package func encoded() -> [UInt8] {
            if let token {
                HTTPBody.sessionWithToken(
                    id: id, name: name, createdAt: createdAt, expiresAt: expiresAt, token: token)
            } else {
                HTTPBody.session(id: id, name: name, createdAt: createdAt, expiresAt: expiresAt)
            }
        }
    }

    /// A refused request (RFC 9457).
    package struct Problem: Sendable, Equatable {
        /// The status's reason phrase.
        package var title: String
        /// The status of the answer.
        package var status: Int
        /// The error's code, for programs.
        package var code: ErrorName
        /// A sentence about the fault in this request, for people.
        package var detail: String
        /// The time in milliseconds after which a retry may succeed; nil if that is not known.
        package var retryAfterMs: Int?
        /// The reason that a person gave for a ban.
        package var reason: String?

        package init(
            title: String, status: Int, code: ErrorName, detail: String, retryAfterMs: Int? = nil,
            reason: String? = nil
        ) {
            self.title = title
            self.status = status
            self.code = code
            self.detail = detail
            self.retryAfterMs = retryAfterMs
            self.reason = reason
        }

        /// Reads the body.
        package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
            try JSONFields.answer(text.contiguous.span) { (fields) throws(FieldViolation) in
                Self(
                    title: try fields.string("title"), status: try fields.count("status"), code: try ErrorName(fields),
                    detail: try fields.string("detail"), retryAfterMs: try fields.countIfPresent("retryAfterMs"),
                    reason: try fields.note())
            }
        }

        /// Writes the body.
        package func encoded() -> [UInt8] {
            HTTPBody.object { writer in
                writer.member("type", "about:blank")
                writer.member("title", title)
                writer.member("status", status)
                writer.member("code", code.text)
                writer.member("detail", detail)
                writer.member("retryAfterMs", retryAfterMs)
                writer.member("reason", reason)
            }
        }
    }
}
