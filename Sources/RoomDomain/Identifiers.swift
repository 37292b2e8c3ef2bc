#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Identity of a room: a UUIDv7, so that ids of newer rooms are larger.
package struct RoomID: Hashable, Sendable {
    /// The identifier's value.
    package let uuid: UUID

    package init(_ uuid: UUID) {
        self.uuid = uuid
    }
}

/// Identity of a session: a UUIDv7, never shown to other members.
package struct SessionID: Hashable, Sendable {
    /// The identifier's value.
    package let uuid: UUID

    package init(_ uuid: UUID) {
        self.uuid = uuid
    }
}

/// A member's number in its room, given out from 1 and never reused.
package struct MemberID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A track's number in its room's pool, given out from 1 and never reused.
package struct TrackID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A queue entry's number in its room, given out from 1 and never reused.
package struct EntryID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// An instant of the server's clock, in milliseconds since the Unix epoch.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since the Unix epoch.
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
