/// What decides a track's place among the requests: most votes first, then the earliest request.
package struct RequestRank: Comparable, Hashable, Sendable {
    /// The number of its votes.
    package var votes: Int
    /// The number of the event at which its votes last rose from 0 to 1.
    package var requestedSeq: Int
    /// The track; of two requests that are equal otherwise, the smaller number comes first.
    package var track: TrackID

    package init(votes: Int, requestedSeq: Int, track: TrackID) {
        self.votes = votes
        self.requestedSeq = requestedSeq
        self.track = track
    }

    package static func < (left: Self, right: Self) -> Bool {
        (right.votes, left.requestedSeq, left.track) < (left.votes, right.requestedSeq, right.track)
    }
}
