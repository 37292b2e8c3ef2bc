/// How a connection's subscription ends.
package enum SubscriptionEnd: Sendable {
    /// The client asked for the end.
    case asked
    /// The connection ended in any way, and the client may be back in a moment.
    case lost
}
