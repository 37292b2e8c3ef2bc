import RoomDomain

/// When a song that was on air counts as a play: what Last.fm and ListenBrainz take for a listen.
package enum PlayRule {
    /// The shortest time that counts, unless the whole song is shorter, in milliseconds.
    static let least: Int64 = 30_000
    /// The time that always counts.
    static let enough: Int64 = 240_000
    /// The shortest song that counts when all of it was heard.
    static let shortestSong: Int64 = 10_000

    /// The time for which a song of this length must have been heard, in milliseconds: half of it, but at least
    /// ``least`` and at most ``enough``; all of a shorter song; ``least`` where the length is unknown.
    package static func required(durationMs: Int64?) -> Int64 {
        guard let durationMs else { return least }
        if durationMs < least, durationMs >= shortestSong { return durationMs }
        return min(max(durationMs / 2 + durationMs % 2, least), enough)
    }
}
