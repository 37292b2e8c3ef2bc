import NIOCore
import RoomDomain
import RoomWire

/// Who is online in one room, and what those who follow it have been told of it.
///
/// Changes gather until the next frame, of which there are few a second; what came and went in between is not told.
/// A snapshot tells how things stand, and may so tell what no frame ever would: whoever it names is named again by the
/// next frame, unless that could only repeat it.
struct RoomPresence {
    /// What a frame tells.
    struct Frame: Equatable {
        /// How many members are online.
        var online: Int
        /// Who came online, ascending.
        var on: [MemberID]
        /// Who went, ascending.
        var off: [MemberID]
        /// Whether so many are online that they are counted only.
        var isCountOnly: Bool
    }

    /// What is not told of one member: whether all were told that it is online, and whether a snapshot has told
    /// somebody otherwise.
    private struct Untold {
        let wasOnline: Bool
        var isAmbiguous = false
    }

    /// Above this many online members, presence is a number only.
    static let listedMembers = 1_000
    /// The time between two frames: a little more than a quarter of a second, so that four a second remain four where
    /// one of them is delivered late and the next at once.
    static let frameInterval = TimeAmount.milliseconds(300)
    /// The time after a frame that has only a number: nobody looks at it that closely, and many get it.
    static let countInterval = TimeAmount.seconds(1)

    private(set) var members: Set<MemberID> = []
    private var untold: [MemberID: Untold] = [:]
    /// Whether somebody who follows was told a number only, and so knows no list to which a change could be applied.
    private var hasUnlisted = false
    private var nextFrame = NIODeadline.uptimeNanoseconds(0)

    /// How many members are online.
    var online: Int { members.count }

    /// When the next frame may be taken; nil while there is nothing to tell.
    var frameDue: NIODeadline? { untold.isEmpty ? nil : nextFrame }

    /// Notes whether a member is online; returns whether that is a change.
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

    /// How things stand.
    var current: Presence {
        let isListed = members.count <= Self.listedMembers
        return Presence(online: members.count, members: isListed ? members.sorted() : nil)
    }

    /// How things stand, for somebody who follows from now on.
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

    /// Takes what is to be told to all who follow; nil where there is nothing, or it is too early.
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
        // Who was told a number only is told all that are online.
        let on = hasUnlisted ? members.sorted() : changed.filter(members.contains).sorted()
        let off = changed.filter { !members.contains($0) }.sorted()
        hasUnlisted = false
        return Frame(online: members.count, on: on, off: off, isCountOnly: false)
    }

    /// Forgets what was told: nobody follows.
    mutating func nobodyFollows() {
        untold = [:]
        hasUnlisted = false
    }
}
