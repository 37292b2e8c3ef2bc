import NIOCore
import RoomDomain
import RoomWire

/// What a room has to do for those who follow it.
enum FollowingStep: Equatable {
    /// Tells feeds.
    case tell(RoomNews, FeedList)
    /// Asks for what is observed, with ``RoomFollowing/takeObserved()``, until the room is quiet.
    case observe
    /// Calls ``RoomFollowing/rang(_:in:at:)`` at this time, and drops an earlier alarm of this kind.
    case set(RoomAlarm, at: NIODeadline)
    /// Drops the alarm of this kind.
    case drop(RoomAlarm)
    /// Gives the room a command of the server's own.
    ///
    /// If it fails, or the log is out of reach, a later change or the next read of the log looks again.
    case submit(RoomCommand)
    /// Tells another server, or all of them.
    case relay(NodeNotice, to: String?)
}

/// A time at which a room has to do something.
enum RoomAlarm: Hashable, CaseIterable {
    /// The followers are told of changes in presence.
    case frame
    /// A member's grace period ends.
    case graceEnd
    /// Votes to skip are counted again.
    case skipCount
    /// The owner may have been away for too long.
    case owner
}
