import RoomDomain

/// The number of a member in one room; never given to another one.
public struct MemberID: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number.
    public let rawValue: Int

    /// The number of a member.
    public init(rawValue: Int) { self.rawValue = rawValue }

    init(_ domain: RoomDomain.MemberID) { rawValue = domain.rawValue }

    var domain: RoomDomain.MemberID { RoomDomain.MemberID(rawValue: rawValue) }

    /// Whether one comes before the other.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a track in one room; never given to another one.
public struct TrackID: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number.
    public let rawValue: Int

    /// The number of a track.
    public init(rawValue: Int) { self.rawValue = rawValue }

    init(_ domain: RoomDomain.TrackID) { rawValue = domain.rawValue }

    var domain: RoomDomain.TrackID { RoomDomain.TrackID(rawValue: rawValue) }

    /// Whether one comes before the other.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The number of an entry of the queue in one room; never given to another one.
///
/// It is below zero while the command that added the entry is on its way. Commands may name such an entry: they wait
/// until it has its own number.
public struct EntryID: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number.
    public let rawValue: Int

    /// The number of an entry.
    public init(rawValue: Int) { self.rawValue = rawValue }

    init(_ domain: RoomDomain.EntryID) { rawValue = domain.rawValue }

    var domain: RoomDomain.EntryID { RoomDomain.EntryID(rawValue: rawValue) }

    /// Whether the command that added the entry is on its way.
    public var isPending: Bool { rawValue < 0 }

    /// Whether one comes before the other.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// An instant by the server's clock.
public struct ServerTime: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970.
    public var milliseconds: Int64

    /// An instant.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    init(_ domain: Timestamp) { milliseconds = domain.milliseconds }

    var domain: Timestamp { Timestamp(milliseconds: milliseconds) }

    /// The time from another instant to this one; negative if that is later.
    public func duration(since other: ServerTime) -> Duration {
        .milliseconds(milliseconds.subtractingReportingOverflow(other.milliseconds).partialValue)
    }

    /// Whether one comes before the other.
    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
