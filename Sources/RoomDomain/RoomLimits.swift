/// Upper bounds and ranges of a room's contents, as the protocol states them.
package enum RoomLimits {
    /// The largest number that a room gives out, which every JSON number can hold: 2^53 − 1.
    package static let largestNumber = 9_007_199_254_740_991
    /// Tracks in a pool.
    package static let tracks = 10_000
    /// Tracks in one `addTracks` or `removeTracks`.
    package static let tracksPerCommand = 500
    /// The times that guests set a track's waveform in an hour.
    package static let guestWaveformsPerHour = 2
    /// The times that the owner and DJs set a track's waveform in an hour.
    package static let waveformsPerHour = 10
    /// Items of `played` in one `syncDeck`.
    package static let played = 200
    /// Waiting entries.
    package static let queue = 500
    /// Present members.
    package static let members = 10_000
    /// Members in one `kick`.
    package static let membersPerCommand = 500
    /// Total votes of the members in one `kick` of several: its events list the remaining votes of each track.
    package static let votesPerKick = 50_000
    /// Sessions that are banned at the same time.
    package static let bans = 10_000
    /// Entries that the history keeps.
    package static let history = 50
    /// Open rooms that one session may own.
    package static let openRoomsPerSession = 100
    /// Unicode scalars of a room's name, after trimming.
    package static let roomName = 1...80
    /// Unicode scalars of a session's or member's name, after trimming.
    package static let memberName = 1...40
    /// Unicode scalars of a track's title, after trimming.
    package static let title = 1...300
    /// Unicode scalars of an artist's or album's name, after trimming.
    package static let artist = 1...300
    /// Unicode scalars of a catalogue's name, after trimming.
    package static let source = 1...40
    /// Unicode scalars of a track's identity in its catalogue, after trimming.
    package static let sourceID = 1...300
    /// Unicode scalars of an artwork's address.
    package static let artworkURL = 1...2_048
    /// Unicode scalars of the reason that somebody gives for an act, after trimming.
    package static let note = 1...200
    /// Milliseconds of a ban that ends by itself: up to a year.
    package static let banMs: ClosedRange<Int64> = 1...31_536_000_000
    /// Milliseconds between two additions of a guest.
    package static let slowModeMs = 0...3_600_000
    /// Milliseconds for which an owner may be away: up to 30 days.
    package static let ownerAwayMs = 0...2_592_000_000
    /// Milliseconds of a length that a deck has measured.
    package static let measuredMs: ClosedRange<Int64> = 1...604_800_000
    /// Milliseconds of a track's length and of a position in it: up to a week, so that no sum overflows.
    package static let durationMs: ClosedRange<Int64> = 0...604_800_000
}
