import NIOCore
import RoomDomain

/// The commands that a server itself gives a room, because of who is online: to skip the track on air, and to replace the
/// owner.
///
/// Several servers may give the same command; the log lets one of them succeed.
struct ServerCommands {
    private let registry: PresenceRegistry
    /// The time after which votes to skip are counted again, if this server did not know who is online.
    private let beat: TimeAmount
    private var owner = OwnerWatch()
    /// The time of the next look at the owner.
    private var ownerLook: NIODeadline?
    private var skipCountIsSet = false

    init(registry: PresenceRegistry, beat: TimeAmount) {
        self.registry = registry
        self.beat = beat
    }

    /// Skips the current track if enough of the members who are online now vote for that.
    ///
    /// If some of them have just come back, this waits until all others have had the time to: after a start they come
    /// back one by one.
    mutating func countSkipVotes(
        in room: RoomState, online: Set<MemberID>, someCameBack: Bool = false, at now: NIODeadline
    ) -> [FollowingStep] {
        guard room.isVotedOut(online: online) else { return [] }
        // A member at a server from which nothing is heard may still be connected.
        let isKnown = someCameBack ? registry.knowsWhoIsOffline : registry.seesEverybody
        guard !isKnown else { return [.submit(.countSkipVotes)] }
        guard !skipCountIsSet else { return [] }
        skipCountIsSet = true
        return [.set(.skipCount, at: now + beat)]
    }

    /// The time has come to count again; a room without followers has nobody to skip for.
    mutating func countAgain(
        in room: RoomState, online: Set<MemberID>, isFollowed: Bool, at now: NIODeadline
    ) -> [FollowingStep] {
        skipCountIsSet = false
        return isFollowed ? countSkipVotes(in: room, online: online, someCameBack: true, at: now) : []
    }

    /// Looks whether the owner is to be replaced.
    mutating func reviewOwner(
        of room: RoomState, online: Set<MemberID>, isFollowed: Bool, at now: NIODeadline
    ) -> [FollowingStep] {
        let sight = OwnerWatch.Sight(online: online, seesEverybody: registry.seesEverybody, isFollowed: isFollowed)
        switch owner.look(at: room, sight, now: now) {
        case .rest:
            guard ownerLook != nil else { return [] }
            ownerLook = nil
            return [.drop(.owner)]
        case .look(let moment):
            guard ownerLook != moment else { return [] }
            ownerLook = moment
            return [.set(.owner, at: moment)]
        case .replace(let owner): return [.submit(.replaceOwner(owner))]
        }
    }

    /// The time of the next look has come.
    mutating func lookAgain(
        at room: RoomState, online: Set<MemberID>, isFollowed: Bool, at now: NIODeadline
    ) -> [FollowingStep] {
        ownerLook = nil
        return reviewOwner(of: room, online: online, isFollowed: isFollowed, at: now)
    }
}
