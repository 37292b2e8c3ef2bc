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
        case unvoteSkip(EntryID)
        /// Nil: whatever is on air.
        case pause(EntryID?)
        case resume(EntryID?)
        case seek(Int64, EntryID?)
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
            case .unvoteSkip(let entry): self = .unvoteSkip(entry)
            case .pause(let entry): self = .pause(entry)
            case .resume(let entry): self = .resume(entry)
            case .seek(let positionMs, let entry): self = .seek(positionMs, entry)
            case .rename(let name): self = .rename(name)
            case .join, .leave, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
                .removeTracks, .setWaveform, .setDuration, .setMissing, .play, .skip, .finish, .syncDeck,
                .countSkipVotes, .replaceOwner, .endMembership:
                return nil
            }
        }

        var touched: Touched {
            switch self {
            case .vote(let track), .unvote(let track): Touched(votes: [track])
            case .enqueue(let track, _): Touched(votes: [track], queue: true)
            case .dequeue, .move: Touched(queue: true)
            case .voteSkip, .unvoteSkip, .pause, .resume, .seek: Touched(playback: true)
            case .rename: Touched(name: true)
            }
        }

        /// The same for another entry, if it is for `entry`.
        func naming(_ other: EntryID, insteadOf entry: EntryID) -> Shown {
            switch self {
            case .dequeue(entry): .dequeue(other)
            case .move(entry, let index): .move(other, to: index)
            case .voteSkip(entry): .voteSkip(other)
            case .unvoteSkip(entry): .unvoteSkip(other)
            case .pause(entry): .pause(other)
            case .resume(entry): .resume(other)
            case .seek(let positionMs, entry): .seek(positionMs, other)
            case .vote, .unvote, .enqueue, .dequeue, .move, .voteSkip, .unvoteSkip, .pause, .resume, .seek, .rename:
                self
            }
        }
    }
}
