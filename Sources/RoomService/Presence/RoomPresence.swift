import NIOCore
import RoomDomain
import RoomWire

/// The members online in one room, and the part of it that its followers have been told.
///
/// Changes are collected until the next frame, of which there are a few in each second; a member that came and went in
/// between is not mentioned. A snapshot tells the current state, and so may tell what no frame ever would. The next
/// frame therefore names again whomever a snapshot has named, unless it could only repeat the same.
struct RoomPresence {
    /// The content of one presence frame.
    struct Frame: Equatable {
        /// The number of members online.
        var online: Int
        /// The members who came online, ascending.
        var on: [MemberID]
        /// The members who went offline, ascending.
        var off: [MemberID]
        /// Whether so many members are online that only their number is told.
        var isCountOnly: Bool
    }

    /// The difference between what is known of one member and what was told: whether all were told that it is online,
    /// and whether a snapshot has told anybody otherwise.
    private struct Untold {
        let wasOnline: Bool
        var isAmbiguous = false
    }

    /// Above this many online members, presence is a number only.
    static let listedMembers = 1_000
    /// The time between two frames: a little more than a quarter of a second, so that no second has more than four even
    /// if one is delivered late and the next at once.
    static let frameInterval = TimeAmount.milliseconds(300)
    /// The time after a frame with only a number: few clients need it sooner, and many receive it.
    static let countInterval = TimeAmount.seconds(1)

    private(set) var members: Set<MemberID> = []
    private var untold: [MemberID: Untold] = [:]
    /// Whether any follower was told only a number, and so has no list to which a change could be applied.
    private var hasUnlisted = false
    private var nextFrame = NIODeadline.uptimeNanoseconds(0)

    /// The number of members online.
    var online: Int { members.count }

    /// The earliest time of the next frame; nil while there is nothing to tell.
    var frameDue: NIODeadline? { untold.isEmpty ? nil : nextFrame }

    /// Records whether a member is online; returns whether that is a change.
    @discardableResult
    mutating func set(_ member: MemberID, isOnline: Bool) -> Bool {
        guard members.contains(member) != isOnline else { return false }
        if isOnline { members.insert(member) } else { members.remove(member) }
        guard let known = untold[member] else {
            untold[member] = Untold(wasOnline: !isOnline)
            return true
        }
        if known.wasOnline == isOnline, !known.isAmbiguous { untold[member] = nil }
        return true
    }

    /// The current presence.
    var current: Presence {
        let isListed = members.count <= Self.listedMembers
        return Presence(online: members.count, members: isListed ? members.sorted() : nil)
    }

    /// The current presence, for a new follower.
    mutating func told() -> Presence {
        if members.count > Self.listedMembers {
            hasUnlisted = true
        } else {
            for (member, known) in untold where known.wasOnline != members.contains(member) {
                untold[member]?.isAmbiguous = true
            }
        }
        return current
    }

    /// Takes the next frame for all followers; nil if there is nothing to tell, or it is too early.
    mutating func takeFrame(at now: NIODeadline) -> Frame? {
        guard let due = frameDue, due <= now else { return nil }
        nextFrame = now + Self.frameInterval
        let changed = untold.keys
        defer { untold = [:] }
        guard members.count <= Self.listedMembers else {
            nextFrame = now + Self.countInterval
            hasUnlisted = true
            return Frame(online: members.count, on: [], off: [], isCountOnly: true)
        }
        // Followers who were told only a number get the list of all who are online.
        let on = hasUnlisted ? members.sorted() : changed.filter(members.contains).sorted()
        let off = changed.filter { !members.contains($0) }.sorted()
        hasUnlisted = false
        return Frame(online: members.count, on: on, off: off, isCountOnly: false)
    }

    /// Forgets what was told, because the room has no followers.
    mutating func nobodyFollows() {
        untold = [:]
        hasUnlisted = false
    }
}
