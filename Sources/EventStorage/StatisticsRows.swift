package import FoundationEssentials

/// What is counted of a stream's events in a span of time.
package struct EventCounts: Hashable, Sendable {
    package var starts = 0
    package var plays = 0
    package var skips = 0
    package var votes = 0
    package var unvotes = 0
    package var requests = 0
    package var joins = 0
    package var leaves = 0
    package var tracksAdded = 0
    /// Milliseconds.
    package var playedMs: Int64 = 0

    package init() {}

    /// The fields that are plain counts, in the order of a store's columns; ``playedMs`` follows them.
    package static var numbers: [WritableKeyPath<EventCounts, Int>] {
        [\.starts, \.plays, \.skips, \.votes, \.unvotes, \.requests, \.joins, \.leaves, \.tracksAdded]
    }

    /// Whether nothing is counted.
    package var isZero: Bool { self == EventCounts() }

    package static func += (left: inout Self, right: Self) {
        for field in numbers { left[keyPath: field] += right[keyPath: field] }
        left.playedMs += right.playedMs
    }
}

/// The length of the spans in which events are counted; the raw value is in minutes.
package enum CountStep: Int, Sendable, Hashable, CaseIterable {
    case minute = 1
    case quarter = 15
}

/// A span of time: a minute, or a quarter of an hour.
package struct CountBucket: Hashable, Comparable, Sendable {
    /// The span's length.
    package var step: CountStep
    /// The span's first minute, in minutes since the Unix epoch: a multiple of the step.
    package var minute: Int

    package init(_ step: CountStep, at minute: Int) {
        self.step = step
        self.minute = minute
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.step.rawValue, left.minute) < (right.step.rawValue, right.minute)
    }

    /// The quarter of an hour that contains it.
    package var quarter: CountBucket { CountBucket(.quarter, at: minute - minute.modulo(15)) }
}

extension Int {
    /// The remainder that is not negative, for a positive divisor.
    package func modulo(_ divisor: Int) -> Int { (self % divisor + divisor) % divisor }
}

/// An entry of a stream that has been on air, as it is counted.
package struct CountedPlay: Hashable, Sendable {
    /// The reason why it ended.
    package enum Reason: Int, Sendable, Hashable, CaseIterable {
        case ended = 0
        case skipped = 1
        case replaced = 2
    }

    /// The entry's number in the stream.
    package var entry: Int
    /// The song's identity across streams.
    package var track: UUID
    /// The song's number in the stream.
    package var number: Int
    /// The number of the member who added the song.
    package var addedBy: Int
    /// When it began, in milliseconds since the Unix epoch.
    package var startedAt: Int64
    /// When it ended, in milliseconds since the Unix epoch.
    package var endedAt: Int64
    /// For how long it was heard.
    package var playedMs: Int64
    package var reason: Reason
    /// Whether it was heard long enough to count as a play.
    package var isPlay: Bool
    /// Whether it counts in numbers across streams.
    package var isPublic: Bool

    package init(
        entry: Int, track: UUID, number: Int, addedBy: Int, startedAt: Int64, endedAt: Int64, playedMs: Int64,
        reason: Reason, isPlay: Bool, isPublic: Bool
    ) {
        self.entry = entry
        self.track = track
        self.number = number
        self.addedBy = addedBy
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.playedMs = playedMs
        self.reason = reason
        self.isPlay = isPlay
        self.isPublic = isPublic
    }
}

/// What is known of a song by its identity across streams.
package struct CountedTrack: Hashable, Sendable {
    /// The song's identity.
    package var track: UUID
    /// The artist's identity; nil if the song names none.
    package var artistKey: UUID?
    /// The title, as the first stream that played it wrote it.
    package var title: String
    /// The artist, as the first stream that played it wrote it.
    package var artist: String?

    package init(track: UUID, artistKey: UUID?, title: String, artist: String?) {
        self.track = track
        self.artistKey = artistKey
        self.title = title
        self.artist = artist
    }
}

/// How far a stream is counted.
package struct CountedPosition: Hashable, Sendable {
    /// The epoch of the log that is counted.
    package var epoch: String
    /// The number of the last event that is counted.
    package var seq: Int
    /// The version of the definitions by which it is counted; ``excluded`` if the stream is not counted any more.
    package var version: Int

    package init(epoch: String, seq: Int, version: Int) {
        self.epoch = epoch
        self.seq = seq
        self.version = version
    }

    /// The version of a stream that counts for nothing, for ever: it is to be forgotten.
    package static let excluded = 0
}

/// What was counted of a stream's events between two positions.
package struct StatisticsFlush: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// The epoch of the log that was counted.
    package var epoch: String
    /// The version of the definitions by which it was counted.
    package var version: Int
    /// The number of the event before the first that was counted.
    package var since: Int
    /// The number of the last event that was counted.
    package var through: Int
    /// What is added, by span.
    package var counts: [CountBucket: EventCounts]
    /// The entries that ended.
    package var plays: [CountedPlay]
    /// The songs of these entries, each once.
    package var tracks: [CountedTrack]
    /// Whether all earlier entries no longer count in numbers across streams.
    package var withdraws: Bool
    /// Who made the stream, if that was counted: streams of one founder count once in numbers across streams.
    package var founder: UUID?

    package init(
        stream: UUID, epoch: String, version: Int, since: Int, through: Int, counts: [CountBucket: EventCounts],
        plays: [CountedPlay], tracks: [CountedTrack], withdraws: Bool = false, founder: UUID? = nil
    ) {
        self.stream = stream
        self.epoch = epoch
        self.version = version
        self.since = since
        self.through = through
        self.counts = counts
        self.plays = plays
        self.tracks = tracks
        self.withdraws = withdraws
        self.founder = founder
    }
}

/// The result of one stream's part of a flush.
package enum FlushOutcome: Hashable, Sendable {
    /// It is durable.
    case counted
    /// The stream's counts end elsewhere, or it has none; nothing of this part was written.
    case conflict
}

/// A stream's head beside the position to which it is counted.
package struct CountedStream: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// The head of its log.
    package var head: StreamHead
    /// How far it is counted; nil if counting has not begun.
    package var counted: CountedPosition?
    /// The position up to which its counts were found right; 0 if they were not looked at since it was counted anew.
    package var proven: Int
    /// Who made it, as far as it is counted.
    package var founder: UUID?

    package init(
        stream: UUID, head: StreamHead, counted: CountedPosition?, proven: Int = 0, founder: UUID? = nil
    ) {
        self.stream = stream
        self.head = head
        self.counted = counted
        self.proven = proven
        self.founder = founder
    }
}

/// The counts of a stream, as of one instant.
package struct StreamCounts: Hashable, Sendable {
    /// How far it is counted.
    package var position: CountedPosition
    /// What is counted, by span.
    package var counts: [CountBucket: EventCounts]

    package init(position: CountedPosition, counts: [CountBucket: EventCounts]) {
        self.position = position
        self.counts = counts
    }
}

/// The place of an entry among those of its stream: by its end, then by its number.
package struct PlayPlace: Hashable, Comparable, Sendable {
    /// When it ended, in milliseconds since the Unix epoch.
    package var endedAt: Int64
    /// Its number.
    package var entry: Int

    package init(endedAt: Int64, entry: Int) {
        self.endedAt = endedAt
        self.entry = entry
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.endedAt, left.entry) < (right.endedAt, right.entry)
    }
}

extension CountedPlay {
    /// Its place among those of its stream.
    package var place: PlayPlace { PlayPlace(endedAt: endedAt, entry: entry) }
}

/// A page of a stream's entries, as of one instant.
package struct StreamPlays: Hashable, Sendable {
    /// How far the stream is counted.
    package var position: CountedPosition
    /// The entries, newest first.
    package var plays: [CountedPlay]

    package init(position: CountedPosition, plays: [CountedPlay]) {
        self.position = position
        self.plays = plays
    }
}

/// A song or an artist, with how often it was played in a stream.
package struct RankedTrack: Hashable, Sendable {
    /// The song; of an artist, one of the songs.
    package var track: CountedTrack
    /// The song's newest number in the stream, and the member who added that; of an artist, those of one of the songs.
    package var number: Int
    package var addedBy: Int
    package var plays: Int
    package var skips: Int
    package var playedMs: Int64

    package init(track: CountedTrack, number: Int, addedBy: Int, plays: Int, skips: Int, playedMs: Int64) {
        self.track = track
        self.number = number
        self.addedBy = addedBy
        self.plays = plays
        self.skips = skips
        self.playedMs = playedMs
    }
}

/// What was played most in a stream, as of one instant.
package struct StreamRanking: Hashable, Sendable {
    /// How far the stream is counted.
    package var position: CountedPosition
    /// Most plays first.
    package var tracks: [RankedTrack]

    package init(position: CountedPosition, tracks: [RankedTrack]) {
        self.position = position
        self.tracks = tracks
    }
}

/// A question about what is played across streams.
package struct TopQuestion: Hashable, Sendable {
    /// Plays that ended at or after this instant, in milliseconds since the Unix epoch.
    package var from: Int64
    /// Plays that ended before this instant.
    package var to: Int64
    /// Only plays of these streams; nil: of all.
    package var streams: [UUID]?
    /// Whether artists are ranked, and not songs.
    package var byArtist: Bool
    /// What fewer streams of distinct owners have played is left out.
    package var leastOwners: Int
    /// The most songs or artists.
    package var limit: Int

    package init(from: Int64, to: Int64, streams: [UUID]? = nil, byArtist: Bool, leastOwners: Int, limit: Int) {
        self.from = from
        self.to = to
        self.streams = streams
        self.byArtist = byArtist
        self.leastOwners = leastOwners
        self.limit = limit
    }
}

/// A song or an artist, with how often it was played across streams.
package struct TopTrack: Hashable, Sendable {
    /// The song; of an artist, one of the songs.
    package var track: CountedTrack
    package var plays: Int
    /// The streams of distinct owners that have played it.
    package var owners: Int
    package var playedMs: Int64

    package init(track: CountedTrack, plays: Int, owners: Int, playedMs: Int64) {
        self.track = track
        self.plays = plays
        self.owners = owners
        self.playedMs = playedMs
    }
}

/// What one node has seen of a stream's listeners in a minute.
package struct ObservedMinute: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// The minute, in minutes since the Unix epoch.
    package var minute: Int
    /// The most that were online at once.
    package var peak: Int
    /// The time for which they were online while something was on air, all together, in milliseconds.
    package var listenedMs: Int64

    package init(stream: UUID, minute: Int, peak: Int, listenedMs: Int64) {
        self.stream = stream
        self.minute = minute
        self.peak = peak
        self.listenedMs = listenedMs
    }
}

/// What all nodes have seen of a stream's listeners.
package struct Audience: Hashable, Sendable {
    /// The most that were online at once: the sum of all nodes' most in one minute.
    package var peak = 0
    /// The time for which they listened, in milliseconds.
    package var listenedMs: Int64 = 0

    package init(peak: Int = 0, listenedMs: Int64 = 0) {
        self.peak = peak
        self.listenedMs = listenedMs
    }

    /// Adds another span of time.
    package static func += (left: inout Self, right: Self) {
        left.peak = max(left.peak, right.peak)
        left.listenedMs += right.listenedMs
    }
}
