import EventStorage
package import RoomDomain

/// A person without an account: an identity that lasts as long as it is used.
package struct Session: Sendable, Equatable {
    /// Never shown to other members.
    package var id: SessionID
    /// Display name.
    package var name: String
    /// The time at which it was created.
    package var createdAt: Timestamp
    /// The time at which it ends unless it is used before.
    package var expiresAt: Timestamp
    /// Whether this use has extended it.
    package var wasExtended = false

    init(_ record: SessionRecord) {
        id = SessionID(record.id)
        name = record.name
        createdAt = Timestamp(milliseconds: record.createdAt)
        expiresAt = Timestamp(milliseconds: record.expiresAt)
    }
}
