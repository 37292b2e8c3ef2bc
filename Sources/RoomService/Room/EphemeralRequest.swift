package import RoomDomain
package import RoomWire

/// What a member asks of a room that is never logged.
package enum EphemeralRequest: Sendable {
    /// Shows a reaction to everybody who follows.
    case reaction(String)
    /// Sends a signal to all connections of a member that follow the room, on any server.
    case signal(RelayedJSON, to: MemberID)
    /// Makes a connection the deck, or ends that.
    case claimDeck(Bool, on: ConnectionID)

    var kind: EphemeralKind {
        switch self {
        case .reaction: .reaction
        case .signal: .signal
        case .claimDeck: .deck
        }
    }
}
