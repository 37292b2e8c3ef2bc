import RoomDomain

extension Overlay {
    /// What a command shows.
    enum Shown: Sendable, Equatable {
        case vote(TrackID)
        case unvote(TrackID)
        case enqueue(TrackID, at: Int?)
        case dequeue(EntryID)
        case move(EntryID, to: Int)
        case voteSkip(EntryID)
        case pause
        case resume
        case seek(Int64)
        case rename(String)

        /// Nil for a command that is shown when it comes back.
        init?(_ command: RoomCommand) {
            switch command {
            case .vote(let track): self = .vote(track)
            case .unvote(let track): self = .unvote(track)
            case .enqueue(let track, let index): self = .enqueue(track, at: index)
            case .dequeue(let entry): self = .dequeue(entry)
            case .move(let entry, let index): self = .move(entry, to: index)
            case .voteSkip(let entry): self = .voteSkip(entry)
            case .pause: self = .pause
            case .resume: self = .resume
            case .seek(let positionMs): self = .seek(positionMs)
            case .rename(let name): self = .rename(name)
            case .join, .leave, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
                .removeTracks, .setWaveform, .play, .skip, .finish, .syncDeck, .countSkipVotes, .replaceOwner,
                .endMembership:
                return nil
            }
        }

        var touched: Touched {
            switch self {
            case .vote(let track), .unvote(let track): Touched(votes: [track])
            case .enqueue(let track, _): Touched(votes: [track], queue: true)
            case .dequeue, .move: Touched(queue: true)
            case .voteSkip, .pause, .resume, .seek: Touched(playback: true)
            case .rename: Touched(name: true)
            }
        }

        /// The same for another entry, if it is for `entry`.
        func naming(_ other: EntryID, insteadOf entry: EntryID) -> Shown {
            switch self {
            case .dequeue(entry): .dequeue(other)
            case .move(entry, let index): .move(other, to: index)
            case .voteSkip(entry): .voteSkip(other)
            case .vote, .unvote, .enqueue, .dequeue, .move, .voteSkip, .pause, .resume, .seek, .rename: self
            }
        }
    }
}
