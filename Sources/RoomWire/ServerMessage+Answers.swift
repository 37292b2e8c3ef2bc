package import RoomDomain

/// Messages about the connection itself, and answers to single messages.
extension ServerMessage {
    /// The first message on every socket: the client's session, and the server process (`node`) that it is connected
    /// to.
    ///
    /// `beatMs` is the time between two beats.
    package static func welcome(
        sessionID: SessionID, name: String, version: String, node: String, beatMs: Int, time: Timestamp
    ) -> [UInt8] {
        Self.message(.welcome) { writer in
            writer.name("session")
            writer.beginObject()
            writer.member("id", sessionID.uuid)
            writer.member("name", name)
            writer.endObject()
            writer.name("server")
            writer.beginObject()
            writer.member("version", version)
            writer.member("node", node)
            writer.endObject()
            writer.member("beatMs", beatMs)
            writer.member("time", time)
        }
    }

    /// The server is about to stop; the client should connect again after `reconnectInMs`.
    package static func goaway(reason: String, reconnectInMs: Int) -> [UInt8] {
        Self.message(.goaway) { writer in
            writer.member("reason", reason)
            writer.member("reconnectInMs", reconnectInMs)
        }
    }

    /// The answer to `unsubscribe`, and to `react`, `signal` and `deck` that have an `id`.
    package static func ok(re: Int64?) -> [UInt8] {
        Self.message(.ok) { writer in writer.member("re", re) }
    }

    /// The answer to a command that was carried out and whose events are durable.
    ///
    /// `seq` is the number of the last event that the command caused, or the room's current one if it changed nothing;
    /// `keyed` is the room's count of keyed commands when this one was carried out, itself included.
    package static func ack(re: Int64?, seq: Int, keyed: Int?, result: CommandResult?) -> [UInt8] {
        Self.message(.ack) { writer in
            writer.member("re", re)
            writer.member("seq", seq)
            writer.member("keyed", keyed)
            writer.member("result", raw: result.map(ResultJSON.encode))
        }
    }

    /// The answer to a message that was refused; `retryAfterMs` is the time after which a retry may succeed, `reason`
    /// what a person gave as the reason for a ban.
    package static func error(
        re: Int64?, code: ErrorCode, message: String, retryAfterMs: Int? = nil, reason: String? = nil
    ) -> [UInt8] {
        Self.error(re: re, code: ErrorName(code), message: message, retryAfterMs: retryAfterMs, reason: reason)
    }

    /// The same answer with an error name that this release may not know.
    static func error(
        re: Int64?, code: ErrorName, message: String, retryAfterMs: Int?, reason: String?
    ) -> [UInt8] {
        Self.message(.error) { writer in
            writer.member("re", re)
            writer.member("code", code.text)
            writer.member("message", message)
            writer.member("retryAfterMs", retryAfterMs)
            writer.member("reason", reason)
        }
    }

    /// The answer to a message that could not be read.
    package static func error(_ violation: MessageViolation) -> [UInt8] {
        Self.error(re: violation.re, code: violation.code, message: violation.message)
    }

    /// One exchange of clocks, in fractional milliseconds since the Unix epoch.
    ///
    /// `t1` is the client's value, `t2` the time when the message arrived, `t3` the time when this answer leaves.
    package static func time(re: Int64?, t1: Double, t2: Double, t3: Double) -> [UInt8] {
        Self.message(.time) { writer in
            writer.member("re", re)
            writer.member("t1", t1)
            writer.member("t2", t2)
            writer.member("t3", t3)
        }
    }
}

// MARK: Reading

extension ServerMessage.Received {
    /// The first message on every socket.
    package struct Welcome: Sendable, Equatable {
        /// The client's session.
        package var session: SessionID
        /// The session's name.
        package var name: String
        /// The server's release.
        package var version: String
        /// The server process.
        package var node: String
        /// The time between two beats, in milliseconds.
        package var beatMs: Int
        /// The server's clock.
        package var time: Timestamp

        package init(
            session: SessionID, name: String, version: String, node: String, beatMs: Int, time: Timestamp
        ) {
            self.session = session
            self.name = name
            self.version = version
            self.node = node
            self.beatMs = beatMs
            self.time = time
        }

        init(_ fields: JSONFields) throws(FieldViolation) {
            let session = try fields.object("session") { (fields) throws(FieldViolation) in
                (id: try fields.sessionID("id"), name: try fields.string("name"))
            }
            let server = try fields.object("server") { (fields) throws(FieldViolation) in
                (version: try fields.string("version"), node: try fields.string("node"))
            }
            self.init(
                session: session.id, name: session.name, version: server.version, node: server.node,
                beatMs: try fields.count("beatMs"), time: try fields.instant("time"))
        }
    }

    static func goaway(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .goaway(reason: try fields.string("reason"), reconnectInMs: try fields.count("reconnectInMs"))
    }

    static func ack(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .ack(
            re: try fields.integerIfPresent("re"), seq: try fields.count("seq"),
            keyed: try fields.countIfPresent("keyed"), result: try fields.resultIfPresent())
    }

    static func error(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .error(
            re: try fields.integerIfPresent("re"), code: try ErrorName(fields), message: try fields.string("message"),
            retryAfterMs: try fields.countIfPresent("retryAfterMs"), reason: try fields.note())
    }

    static func time(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .time(
            re: try fields.integerIfPresent("re"), t1: try fields.number("t1"), t2: try fields.number("t2"),
            t3: try fields.number("t3"))
    }
}
