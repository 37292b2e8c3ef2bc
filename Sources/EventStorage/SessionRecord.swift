package import FoundationEssentials

/// A session as stores keep it; the token itself is never stored.
package struct SessionRecord: Hashable, Sendable {
    /// Its identifier, never shown to other members.
    package var id: UUID
    /// SHA-256 of the bearer token, 32 bytes, unique.
    package var tokenHash: [UInt8]
    /// Display name.
    package var name: String
    /// Milliseconds since the Unix epoch.
    package var createdAt: Int64
    /// Milliseconds since the Unix epoch.
    package var expiresAt: Int64
    /// Whether its owner ended it; its token no longer works, and its row remains until its memberships have ended.
    package var hasEnded: Bool

    package init(
        id: UUID, tokenHash: [UInt8], name: String, createdAt: Int64, expiresAt: Int64, hasEnded: Bool = false
    ) {
        self.id = id
        self.tokenHash = tokenHash
        self.name = name
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.hasEnded = hasEnded
    }
}
