package import RoomWire

/// What a connection asks for when it asks to follow a room.
package enum SubscriptionWish: Sendable, Hashable {
    /// A client asks, from its position if it has one; `id` is given back as `re`.
    case begin(id: Int64?, from: Position?)
    /// The connection follows, and did not keep up: a snapshot in place of the events from this one on.
    case collapse(from: Int)
    /// The connection follows, and an earlier answer did not reach the end: the events from this one on, in the log that
    /// it follows.
    case rest(from: Int)
    /// The connection follows, and the log was replaced (``RoomNews/replaced(_:)``).
    case anew

    /// The client's id of the request, given back as `re`.
    package var id: Int64? {
        if case .begin(let id, _) = self { id } else { nil }
    }

    /// The position from which the client resumes; nil if it has none.
    package var position: Position? {
        if case .begin(_, let position) = self { position } else { nil }
    }

    /// The first event that was not sent to this connection; nil if none is known.
    package var leftOutFrom: Int? {
        switch self {
        case .collapse(let from), .rest(let from): from
        case .begin, .anew: nil
        }
    }

    /// Whether the connection asks for the rest of an earlier answer.
    package var isRest: Bool {
        if case .rest = self { true } else { false }
    }

    /// Whether the connection asks on its own, without a message of the client.
    package var isCatchUp: Bool {
        if case .begin = self { false } else { true }
    }
}
