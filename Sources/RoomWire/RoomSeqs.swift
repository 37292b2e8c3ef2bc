import RoomDomain

/// The positions of rooms: an object whose names are rooms' ids and whose values are the numbers of their last events.
extension JSONWriter {
    mutating func member(_ name: StaticString, seqs: some Sequence<(room: RoomID, seq: Int)>) {
        self.name(name)
        self.beginObject()
        for (room, seq) in seqs {
            self.name(room.uuid)
            self.integer(seq)
        }
        self.endObject()
    }
}

extension JSONFields {
    func seqs(_ name: String) throws(FieldViolation) -> [(room: RoomID, seq: Int)] {
        guard let members = self[name]?.object?.members else { throw self.violation(name, "an object") }
        var seqs: [(room: RoomID, seq: Int)] = []
        seqs.reserveCapacity(members.count)
        for member in members {
            guard let room = RoomID(member.name), let seq = member.value.integer else {
                throw self.violation(name, "an object of event numbers by room id")
            }
            seqs.append((room, Int(seq)))
        }
        return seqs
    }
}
