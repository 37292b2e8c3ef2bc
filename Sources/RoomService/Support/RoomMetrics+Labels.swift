import EventStorage
import RoomDomain

/// A command's type, as the protocol names it.
enum CommandKind: String, CaseIterable {
    case join, leave, rename, updateRoom, closeRoom, setRole, transferOwnership, kick, unban, addTracks, removeTracks
    case vote, unvote, enqueue, dequeue, move, play, pause, resume, seek, skip, finish, voteSkip, syncDeck
    /// The server's own.
    case countSkipVotes, replaceOwner, endMembership

    init(_ command: RoomCommand) {
        self =
            switch command {
            case .join: .join
            case .leave: .leave
            case .rename: .rename
            case .updateRoom: .updateRoom
            case .closeRoom: .closeRoom
            case .setRole: .setRole
            case .transferOwnership: .transferOwnership
            case .kick: .kick
            case .unban: .unban
            case .addTracks: .addTracks
            case .removeTracks: .removeTracks
            case .vote: .vote
            case .unvote: .unvote
            case .enqueue: .enqueue
            case .dequeue: .dequeue
            case .move: .move
            case .play: .play
            case .pause: .pause
            case .resume: .resume
            case .seek: .seek
            case .skip: .skip
            case .finish: .finish
            case .voteSkip: .voteSkip
            case .syncDeck: .syncDeck
            case .countSkipVotes: .countSkipVotes
            case .replaceOwner: .replaceOwner
            case .endMembership: .endMembership
            }
    }
}

extension CommandOutcome {
    /// What became of a command, without the particulars.
    enum Kind: String, CaseIterable {
        case acknowledged
        case refused
        case keyReused = "key_reused"
        case noSuchRoom = "no_such_room"
        case unavailable
        case internalFault = "internal"
    }

    /// The outcome without its particulars.
    var kind: Kind {
        switch self {
        case .acknowledged: .acknowledged
        case .refused: .refused
        case .keyReused: .keyReused
        case .noSuchRoom: .noSuchRoom
        case .unavailable: .unavailable
        case .internalFault: .internalFault
        }
    }
}

/// What a member does that no log knows.
enum LiveKind {
    case reaction
    case signal
}

extension LiveOutcome {
    /// What became of a reaction or a signal, without the particulars.
    enum Kind: String, CaseIterable {
        case done
        case refused
        case notFound = "not_found"
        case rateLimited = "rate_limited"
        case noSuchRoom = "no_such_room"
        case unavailable
        case internalFault = "internal"
    }

    /// The outcome without its particulars.
    var kind: Kind {
        switch self {
        case .done: .done
        case .refused(.notFound): .notFound
        case .refused: .refused
        case .rateLimited: .rateLimited
        case .noSuchRoom: .noSuchRoom
        case .unavailable: .unavailable
        case .internalFault: .internalFault
        }
    }
}

extension StorageFault {
    /// What failed, without the particulars.
    enum Kind: String, CaseIterable {
        case unreachable
        case outcomeUnknown = "outcome_unknown"
        case transient
        case exhausted
        case rejected
        case corrupt
        case closed
    }

    /// The fault without its cause.
    var kind: Kind {
        switch self {
        case .unreachable: .unreachable
        case .outcomeUnknown: .outcomeUnknown
        case .transient: .transient
        case .exhausted: .exhausted
        case .rejected: .rejected
        case .corrupt: .corrupt
        case .closed: .closed
        }
    }
}
