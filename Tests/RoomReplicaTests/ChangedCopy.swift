import RoomDomain
import RoomReplica
import RoomWire

/// A room that knows only what a replica says has changed: what an app shows.
struct ChangedCopy: Equatable {
    var properties: RoomProperties
    var members: [MemberID: ShownState.Member]
    var pool: [Track]
    var votes: [TrackID: TrackVotes]
    var queue: [QueueEntry]
    var playback: ShownState.Playback?
    var history: [HistoryEntry]
    var me: OwnMembership?
    var online: Int?
    var onlineMembers: Set<MemberID>?
    var deck: ShownDeck?

    init(of replica: Replica) {
        properties = replica.properties
        members = replica.members
        // Votes are compared beside the tracks.
        pool = replica.pool.compactMap { replica.tracks[$0] }.map(Self.withoutVotes)
        votes = Dictionary(
            uniqueKeysWithValues: replica.pool.compactMap { id in replica.votes(of: id).map { (id, $0) } })
        queue = replica.queue
        playback = replica.playback
        history = replica.history
        me = replica.me
        online = replica.online
        onlineMembers = replica.onlineMembers
        deck = replica.deck
    }

    private static func withoutVotes(_ track: Track) -> Track {
        var track = track
        track.votes = 0
        track.requestedSeq = nil
        return track
    }

    mutating func apply(_ changes: [RoomChange], of replica: Replica) {
        for change in changes {
            switch change {
            case .reset: self = ChangedCopy(of: replica)
            case .properties(let properties): self.properties = properties
            case .member(let member): members[member.id] = member
            case .memberLeft(let member): members[member] = nil
            case .tracksAdded(let added):
                for placed in added {
                    pool.insert(Self.withoutVotes(placed.track), at: placed.place)
                    votes[placed.track.id] = TrackVotes(
                        track: placed.track.id, votes: placed.track.votes, requestedSeq: placed.track.requestedSeq,
                        isMine: false)
                }
            case .tracksRemoved(let gone):
                pool.removeAll { gone.contains($0.id) }
                for id in gone { votes[id] = nil }
            case .votes(let votes): self.votes[votes.track] = votes
            case .waveform(let id, let name):
                for index in pool.indices where pool[index].id == id { pool[index].waveform = name }
            case .duration(let id, let durationMs):
                for index in pool.indices where pool[index].id == id { pool[index].setDuration(durationMs) }
            case .missing(let missing):
                for index in pool.indices { pool[index].isMissing = missing.contains(pool[index].id) }
            case .queue(let queue): self.queue = queue
            case .playback(let playback): self.playback = playback
            case .finished(let entry): history = Array(([entry] + history).prefix(RoomLimits.history))
            case .membership(let me): self.me = me
            case .online(let count, let members): (online, onlineMembers) = (count, members)
            case .deck(let deck): self.deck = deck
            }
        }
    }
}
