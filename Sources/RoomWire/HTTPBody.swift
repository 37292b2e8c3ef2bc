package import RoomDomain

/// The JSON bodies of HTTP answers (protocol, sections 1 and 2).
package enum HTTPBody {
    /// `{"seq","result"?}`: a command was carried out.
    package static func command(seq: Int, result: CommandResult?) -> [UInt8] {
        Self.object { writer in
            writer.member("seq", seq)
            writer.member("result", raw: result.map(ResultJSON.encode))
        }
    }

    /// `{"rooms":[RoomSummary],"next"?}`: a listing or a nearby search; `next` is nil on the last page.
    package static func rooms(_ rooms: [RoomSummary], next: String? = nil) -> [UInt8] {
        Self.object(capacity: 64 + rooms.count * 256) { writer in
            writer.member("rooms", rooms)
            writer.member("next", next)
        }
    }

    /// `{"session":{"id","name","createdAt","expiresAt"}}`.
    package static func session(
        id: SessionID, name: String, createdAt: Timestamp, expiresAt: Timestamp
    ) -> [UInt8] {
        Self.object { writer in
            writer.member(session: id, name: name, createdAt: createdAt, expiresAt: expiresAt)
        }
    }

    /// The same with `"token"`: the only time it is shown.
    package static func sessionWithToken(
        id: SessionID, name: String, createdAt: Timestamp, expiresAt: Timestamp, token: String
    ) -> [UInt8] {
        Self.object { writer in
            writer.member(session: id, name: name, createdAt: createdAt, expiresAt: expiresAt)
            writer.member("token", token)
        }
    }

    /// A problem (RFC 9457), of media type `application/problem+json`.
    ///
    /// `status` and `title` are the code's own where they are left out; `detail` is a sentence on what is wrong with this
    /// request; `retryAfterMs` says when trying again may help.
    package static func problem(
        status: Int? = nil, code: ErrorCode, title: String? = nil, detail: String, retryAfterMs: Int? = nil
    ) -> [UInt8] {
        Self.object { writer in
            writer.member("type", "about:blank")
            writer.member("title", title ?? code.title)
            writer.member("status", status ?? code.httpStatus)
            writer.member("code", choice: code)
            writer.member("detail", detail)
            writer.member("retryAfterMs", retryAfterMs)
        }
    }

    /// An object: its members are those that `writeMembers` writes.
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
