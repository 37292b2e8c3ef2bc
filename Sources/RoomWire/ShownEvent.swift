package import RoomDomain

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An event as a client receives it.
package enum ShownEvent: Sendable, Equatable {
    /// An event whose private fields are hidden: its sessions are ``RoomDomain/SessionID/hidden``.
    case known(RecordedEvent)
    /// An event of a type that only a later release knows; its number counts, but its contents are not kept.
    case unknown(type: String, seq: Int, at: Timestamp)

    /// Its number, counted from 1 without gaps.
    @inlinable package var seq: Int {
        switch self {
        case .known(let recorded): recorded.seq
        case .unknown(_, let seq, _): seq
        }
    }

    /// The time when it was recorded.
    package var at: Timestamp {
        switch self {
        case .known(let recorded): recorded.at
        case .unknown(_, _, let at): at
        }
    }
}

extension SessionID {
    /// The placeholder for a session that clients are not shown; no session has this id.
    ///
    /// It is the nil UUID of RFC 9562 §5.9.
    package static let hidden = SessionID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
}
