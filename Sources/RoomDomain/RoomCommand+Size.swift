extension RoomCommand {
    /// How many tracks, entries or members it names: what deciding it takes grows with them.
    package var itemCount: Int {
        switch self {
        case .addTracks(let tracks): tracks.count
        case .removeTracks(let tracks): tracks.count
        case .syncDeck(let deck): deck.queue.count
        case .kick(let members, _, _, _): members.count
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .unban, .vote, .unvote,
            .enqueue, .dequeue, .move, .play, .pause, .resume, .seek, .skip, .finish, .voteSkip,
            .countSkipVotes, .replaceOwner, .endMembership:
            1
        }
    }
}
