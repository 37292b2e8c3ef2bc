import ByteText
package import RoomDomain

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The members online in one room, as far as one server knows.
package struct OnlineMembers: Sendable, Equatable {
    /// The room.
    package var room: RoomID
    /// The members, each once.
    package var members: [MemberID]

    package init(room: RoomID, members: [MemberID]) {
        self.room = room
        self.members = members
    }

    init(_ fields: JSONFields) throws(FieldViolation) {
        room = try fields.roomID("room")
        members = try fields.ids("members")
    }

    /// A member's contribution to the sum with which two servers compare their lists of online members.
    ///
    /// The value is the same on every server, and the sum does not depend on the order. Two different lists have
    /// different sums, except for a negligible chance.
    package static func sum(_ member: MemberID, in room: RoomID) -> Int64 {
        let (high, low) = room.uuid.halves
        let hash = Self.mixed(UInt64(bitPattern: Int64(member.rawValue)))
        return Int64(bitPattern: Self.mixed(Self.mixed(hash ^ high) ^ low))
    }

    /// SplitMix64's step: every bit of the result depends on every bit of the word.
    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word &+ 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// The members who came online or went offline in one room at one server.
package struct MemberChanges: Sendable, Equatable {
    /// The room.
    package var room: RoomID
    /// Members who came online.
    package var on: [MemberID]
    /// Members who went offline.
    package var off: [MemberID]

    package init(room: RoomID, on: [MemberID], off: [MemberID]) {
        self.room = room
        self.on = on
        self.off = off
    }

    init(_ fields: JSONFields) throws(FieldViolation) {
        room = try fields.roomID("room")
        on = try fields.ids("on")
        off = try fields.ids("off")
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ rooms: [OnlineMembers]) {
        self.name(name)
        self.beginArray()
        for online in rooms {
            self.beginObject()
            self.member("room", online.room.uuid)
            self.member("members", ids: online.members)
            self.endObject()
        }
        self.endArray()
    }

    mutating func member(_ name: StaticString, _ changes: [MemberChanges]) {
        self.name(name)
        self.beginArray()
        for change in changes {
            self.beginObject()
            self.member("room", change.room.uuid)
            self.member("on", ids: change.on)
            self.member("off", ids: change.off)
            self.endObject()
        }
        self.endArray()
    }
}
