internal import FoundationEssentials
package import RoomDomain

/// An event as clients are shown it.
package enum ShownEvent: Sendable, Equatable {
    /// An event whose private fields are hidden: its sessions are ``RoomDomain/SessionID/hidden``.
    case known(RecordedEvent)
    /// An event that this program does not know, as a later release has them; it counts, and what it says is not kept.
    case unknown(type: String, seq: Int, at: Timestamp)

    /// Its number, from 1 without gaps.
    package var seq: Int {
        switch self {
        case .known(let recorded): recorded.seq
        case .unknown(_, let seq, _): seq
        }
    }

    /// When it was recorded.
    package var at: Timestamp {
        switch self {
        case .known(let recorded): recorded.at
        case .unknown(_, _, let at): at
        }
    }
}

extension SessionID {
    /// Stands where there is a session that clients are not shown; no session has this id.
    ///
    /// It is the nil UUID of RFC 9562 §5.9.
    package static let hidden = SessionID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
}
