package import EventStorage
package import FoundationEssentials
package import RoomDomain

/// The rows of the log that follow from a room's state, and the fold of its stored events.
extension RoomState {
    /// Applies a page of stored events, which must be exactly those after this state up to `last`; returns them.
    ///
    /// The state does not change if it throws.
    @discardableResult
    package mutating func fold(_ page: [StoredEvent], through last: Int) throws(LogFault) -> [RecordedEvent] {
        let events = try page.recorded(after: seq, through: last)
        for event in events { evolve(event) }
        return events
    }

    /// The sessions that the log lists as members; none for a closed room, because closing it ends every membership.
    package var listedMembers: [UUID] {
        isOpen ? memberOfSession.keys.map(\.uuid) : []
    }

    /// Whether the log lists a session as a member.
    package func lists(_ session: SessionID) -> Bool {
        isOpen && memberOfSession[session] != nil
    }

    /// The time in milliseconds since the Unix epoch at which the log was told to forget the room; nil if it was not.
    package var forgetAt: Int64? {
        isForgotten ? lastEventAt.milliseconds : nil
    }
}
