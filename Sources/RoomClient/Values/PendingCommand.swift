import RoomReplica

/// A command without an answer.
public struct PendingCommand: Sendable, Identifiable {
    /// The key under which it is sent.
    public let id: CommandKey
    /// The command.
    public let command: Command
    /// Whether it is kept in the store until it is answered, also over a restart of the app.
    public let isKept: Bool
    let promise: Promise<Receipt>

    /// Waits for the answer.
    ///
    /// - Throws: The refusal; or ``ClientError/Code/outcomeUnknown``, ``ClientError/Code/expired`` or
    ///   ``ClientError/Code/superseded``.
    @discardableResult public func answer() async throws(ClientError) -> Receipt { try await promise.value() }
}

/// An emoji that a member shows to everybody in a room.
public struct Reaction: Sendable, Hashable {
    /// The member.
    public let from: MemberID
    /// The emoji.
    public let emoji: String
}

/// Data that a member has sent to this one.
public struct Signal: Sendable, Hashable {
    /// The member.
    public let from: MemberID
    /// The data as JSON, as it was sent.
    public let json: [UInt8]
}
