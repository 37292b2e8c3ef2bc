/// A client's position in a room's events; one indivisible value.
package struct Position: Sendable, Hashable {
    /// The room's epoch: random text that stays the same as long as the room's log does.
    package var epoch: String
    /// The number of the last event that the client has; 0 if it has none.
    package var seq: Int

    package init(epoch: String, seq: Int) {
        self.epoch = epoch
        self.seq = seq
    }

    /// Reads the members `epoch` and `seq`.
    init(_ fields: JSONFields) throws(FieldViolation) {
        let seq = try fields.count("seq")
        guard seq >= 0 else { throw fields.violation("seq", "0 or more") }
        self.init(epoch: try fields.string("epoch"), seq: seq)
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ position: Position?) {
        guard let position else { return }
        self.name(name)
        self.beginObject()
        self.members(of: position)
        self.endObject()
    }

    /// Writes the members `epoch` and `seq`.
    mutating func members(of position: Position) {
        self.member("epoch", position.epoch)
        self.member("seq", position.seq)
    }
}
