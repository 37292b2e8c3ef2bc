import RoomDomain
import RoomReplica
import RoomWire

/// What the main actor is told, in order.
enum Delivery: Sendable {
    /// A room anew.
    case reset(RoomWire.RoomReference, RoomContents)
    /// Changes of a room, up to a position.
    case changed(RoomWire.RoomReference, [RoomReplica.RoomChange], RoomWire.Position)
    /// A room is at another stage.
    case phase(RoomWire.RoomReference, Following.Phase, at: ServerTime)
    /// The commands without an answer.
    case pending(RoomWire.RoomReference, [PendingCommand])
    /// Another member shows a reaction.
    case reaction(RoomWire.RoomReference, Reaction)
    /// Another member has sent data.
    case signal(RoomWire.RoomReference, Signal)
    /// What became of a command of the device's deck; where it was carried out, the number of its last event.
    case deckAnswered(RoomWire.RoomReference, key: String, Result<Int, ClientError>)
    /// The device's deck leads no more.
    case deckEnded(RoomWire.RoomReference, ClientError)
    /// The rooms of a circle, nearest first.
    case nearby(Int, [RoomSummary])
    /// A circle is not watched any more.
    case nearbyEnded(Int, ClientError)
}

/// A whole room as it is shown, read under the lock for the main actor.
struct RoomContents: Sendable {
    let position: RoomWire.Position
    let state: ShownState
    let me: OwnMembership?
    /// The tracks whose shown votes include one's own.
    let ownVotes: Set<RoomDomain.TrackID>
    let online: Int?
    let onlineMembers: Set<RoomDomain.MemberID>?
    let deck: ShownDeck?

    /// Nil before the first snapshot.
    ///
    /// O(members + tracks + queue).
    init?(_ room: ClientRoom) {
        guard let replica = room.replica, let state = room.shown else { return nil }
        position = replica.position
        self.state = state
        me = replica.me
        ownVotes = room.shownOwnVotes
        online = replica.online
        onlineMembers = replica.onlineMembers
        deck = room.shownDeck
    }
}

extension ClientError {
    /// A refusal of the server.
    init(_ refusal: Refusal) {
        self.init(
            Code(rawValue: refusal.code.text), refusal.message,
            retryAfter: refusal.retryAfterMs.map { .milliseconds($0) })
        reason = refusal.reason
    }

    /// The server's problem (RFC 9457), or what its status says.
    init(_ response: ClientResponse) {
        do throws(ServerViolation) {
            let problem = try HTTPBody.Problem.parse(response.body)
            self.init(
                Refusal(
                    problem.code, problem.detail, retryAfterMs: problem.retryAfterMs, reason: problem.reason))
        } catch {
            let code: Code = response.status >= 500 ? .unavailable : .unreadable
            self.init(code, "the server answered with status \(response.status)")
        }
    }

    /// A fault of the transport.
    init(_ fault: TransportFault) {
        if let response = fault.response {
            self.init(response)
        } else {
            self.init(.unavailable, fault.reason, cause: fault)
        }
    }

    /// What became of a command that was not carried out.
    init?(_ answer: CommandAnswer) {
        switch answer {
        case .acknowledged: return nil
        case .refused(let refusal): self.init(refusal)
        case .superseded: self.init(.superseded, "a later command took its place before it was sent")
        case .expired: self.init(.expired, "there was no connection while the command was worth sending")
        case .outcomeUnknown:
            self.init(.outcomeUnknown, "the connection was lost, and nobody can say whether it was carried out")
        }
    }
}
