import RoomDomain
import RoomWire

/// What this server tells the others of its own members.
struct PresenceReport {
    /// The most members in one notice; a room counts as eight.
    ///
    /// A member takes at most 20 bytes, mostly six, so a notice stays well below the limit of a message.
    private static let noticeSize = 16_000

    /// The checksum of all members here.
    private(set) var sum: Int64 = 0
    /// Changes that have not been told.
    private var untold: [RoomID: [MemberID: Bool]] = [:]
    /// Whether there are others to tell.
    private let isTold: Bool

    init(isTold: Bool) {
        self.isTold = isTold
    }

    /// Whether there are changes that have not been told.
    var hasUntold: Bool { !untold.isEmpty }

    /// Records that a member came online here, or went.
    mutating func moved(_ member: MemberID, isHere: Bool, in room: RoomID) {
        let one = OnlineMembers.sum(member, in: room)
        sum = isHere ? sum &+ one : sum &- one
        if isTold { untold[room, default: [:]][member] = isHere }
    }

    /// Takes the changes, as notices for all other servers.
    mutating func takeChanges() -> [NodeNotice] {
        defer { untold = [:] }
        let changes = Self.notices(of: untold.mapValues(Array.init)) { room, members in
            MemberChanges(
                room: room, on: members.filter(\.value).map(\.key), off: members.filter { !$0.value }.map(\.key))
        }
        return changes.map { .presenceChanged($0) }
    }

    /// The members who are online here, as a list in parts.
    static func list(of members: [RoomID: Set<MemberID>]) -> [NodeNotice] {
        let parts = notices(of: members.mapValues(Array.init)) { OnlineMembers(room: $0, members: Array($1)) }
        // An empty list is told as well.
        return (parts.isEmpty ? [[]] : parts).enumerated().map { index, part in
            .presenceList(part: index, isLast: index >= parts.count - 1, part)
        }
    }

    /// Makes an entry for each room, or several for a large one, and divides all entries among notices.
    private static func notices<Member, Entry>(
        of rooms: [RoomID: [Member]], _ entry: (RoomID, ArraySlice<Member>) -> Entry
    ) -> [[Entry]] {
        var notices: [[Entry]] = []
        var size = noticeSize
        for (room, members) in rooms {
            for part in members.parts(of: noticeSize) {
                if size + part.count > noticeSize {
                    notices.append([])
                    size = 0
                }
                notices[notices.count - 1].append(entry(room, part))
                size += part.count + 8
            }
        }
        return notices
    }
}
