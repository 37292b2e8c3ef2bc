package import RoomDomain

/// The JSON of a command's result: `{"member":3}`, `{"tracks":[7,8]}`, `{"entry":9}` or
/// `{"waveform":"qk3…"}`.
package enum ResultJSON {
    /// Writes the result's text, for an answer and for the log.
    package static func encode(_ result: CommandResult) -> [UInt8] {
        var writer = JSONWriter(capacity: 32)
        writer.beginObject()
        switch result {
        case .member(let member): writer.member("member", id: member)
        case .tracks(let tracks): writer.member("tracks", ids: tracks)
        case .entry(let entry): writer.member("entry", id: entry)
        case .waveform(let name): writer.member("waveform", name.description)
        }
        writer.endObject()
        return writer.bytes
    }

    /// Reads a result from the log.
    package static func decode(_ text: [UInt8]) throws(StoredEventFault) -> CommandResult {
        let fields = try JSONFields(stored: text)
        do throws(FieldViolation) {
            if let result = try Self.read(fields) { return result }
            throw fields.violation("tracks", "an array")
        } catch {
            throw .field(error.message)
        }
    }

    /// Reads a result; nil if it has no known member, as a later release's result may.
    static func read(_ fields: JSONFields) throws(FieldViolation) -> CommandResult? {
        if let member = try fields.idIfPresent("member", as: MemberID.self) { return .member(member) }
        if let entry = try fields.idIfPresent("entry", as: EntryID.self) { return .entry(entry) }
        if let name = try fields.waveformNameIfPresent("waveform") { return .waveform(name) }
        return fields["tracks"] == nil ? nil : .tracks(try fields.ids("tracks"))
    }
}

extension JSONFields {
    /// Reads the `result` of an answer.
    func resultIfPresent() throws(FieldViolation) -> CommandResult? {
        try self.objectIfPresent("result", ResultJSON.read) ?? nil
    }
}
