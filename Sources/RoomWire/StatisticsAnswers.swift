package import RoomDomain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Something that is counted of a room; the raw value is its name in answers.
package enum StatisticsMetric: String, CaseIterable, Sendable, Hashable {
    case starts, plays, skips, playedMs, votes, unvotes, requests, joins, leaves, tracksAdded
}

/// What was counted in a span of time.
package struct StatisticsBucket: Hashable, Sendable {
    /// The beginning of the span.
    package var at: Timestamp
    /// The counts that are not 0.
    package var counts: [StatisticsMetric: Int]

    package init(at: Timestamp, counts: [StatisticsMetric: Int]) {
        self.at = at
        self.counts = counts.filter { $0.value != 0 }
    }
}

/// How many listened in a span of time, as servers have seen it.
package struct ObservedBucket: Hashable, Sendable {
    /// The beginning of the span.
    package var at: Timestamp
    /// The most members that were online at once.
    package var peakListeners: Int
    /// The time for which members were online while a song was on air, all together, in milliseconds.
    package var listenedMs: Int

    package init(at: Timestamp, peakListeners: Int, listenedMs: Int) {
        self.at = at
        self.peakListeners = peakListeners
        self.listenedMs = listenedMs
    }
}

/// The counts of a room: the answer to `GET /v1/rooms/{room}/statistics`.
package struct StatisticsAnswer: Hashable, Sendable {
    package var room: RoomID
    /// Every event up to here is counted, none after it.
    package var position: Position
    /// The server's clock.
    package var time: Timestamp
    /// The name of the step.
    package var step: String
    package var from: Timestamp
    package var to: Timestamp
    package var buckets: [StatisticsBucket]
    package var observed: [ObservedBucket]
    /// The last day up to which all rooms are proven; nil if there is none.
    package var sealedThrough: String?

    package init(
        room: RoomID, position: Position, time: Timestamp, step: String, from: Timestamp, to: Timestamp,
        buckets: [StatisticsBucket], observed: [ObservedBucket], sealedThrough: String?
    ) {
        self.room = room
        self.position = position
        self.time = time
        self.step = step
        self.from = from
        self.to = to
        self.buckets = buckets
        self.observed = observed
        self.sealedThrough = sealedThrough
    }

    /// The body.
    package func encoded() -> [UInt8] {
        HTTPBody.object(capacity: 256 + buckets.count * 120) { writer in
            writer.member("room", room.uuid)
            writer.member("epoch", position.epoch)
            writer.member("seq", position.seq)
            writer.member("time", time)
            writer.member("step", step)
            writer.member("from", from)
            writer.member("to", to)
            writer.member("buckets", buckets)
            writer.name("observed")
            writer.beginArray()
            for bucket in observed {
                writer.beginObject()
                writer.member("at", bucket.at)
                writer.member("peakListeners", bucket.peakListeners)
                writer.member("listenedMs", bucket.listenedMs)
                writer.endObject()
            }
            writer.endArray()
            writer.member("sealedThrough", sealedThrough)
        }
    }
}

/// A song of a room's statistics.
package struct CountedSong: Hashable, Sendable {
    /// Its number in the pool; nil in answers across rooms.
    package var track: TrackID?
    /// Its catalogue and its identifier there; nil if it has left the pool, and in answers across rooms.
    package var source: String?
    package var sourceID: String?
    package var title: String
    package var artist: String?
    /// The member who added it; nil in answers across rooms.
    package var addedBy: MemberID?

    package init(
        track: TrackID?, source: String?, sourceID: String?, title: String, artist: String?, addedBy: MemberID?
    ) {
        self.track = track
        self.source = source
        self.sourceID = sourceID
        self.title = title
        self.artist = artist
        self.addedBy = addedBy
    }
}

/// A song that was on air.
package struct PlayedSong: Hashable, Sendable {
    package var entry: EntryID
    package var song: CountedSong
    package var startedAt: Timestamp
    package var endedAt: Timestamp
    package var reason: FinishReason
    package var playedMs: Int64
    /// Whether it was heard for long enough to count as a play.
    package var isPlay: Bool

    package init(
        entry: EntryID, song: CountedSong, startedAt: Timestamp, endedAt: Timestamp, reason: FinishReason,
        playedMs: Int64, isPlay: Bool
    ) {
        self.entry = entry
        self.song = song
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.reason = reason
        self.playedMs = playedMs
        self.isPlay = isPlay
    }
}

/// A song or an artist, with how often it was played.
package struct RankedSong: Hashable, Sendable {
    /// The song; for an artist, only ``CountedSong/artist`` is written.
    package var song: CountedSong
    package var plays: Int
    /// In a room.
    package var skips: Int?
    package var playedMs: Int64?
    /// Across rooms.
    package var rooms: Int?

    package init(song: CountedSong, plays: Int, skips: Int? = nil, playedMs: Int64? = nil, rooms: Int? = nil) {
        self.song = song
        self.plays = plays
        self.skips = skips
        self.playedMs = playedMs
        self.rooms = rooms
    }
}

/// A stretch of time up to now; the raw value is its name.
package enum StatisticsWindow: String, CaseIterable, Sendable, Hashable {
    case hour, day, week
}

/// What was played most across rooms: the answer to `GET /v1/statistics/tracks` and `/artists`.
package struct TopAnswer: Hashable, Sendable {
    package var window: StatisticsWindow
    package var from: Timestamp
    package var to: Timestamp
    /// The rooms of distinct owners that have played each song at least.
    package var minimumRooms: Int
    package var songs: [RankedSong]

    package init(
        window: StatisticsWindow, from: Timestamp, to: Timestamp, minimumRooms: Int, songs: [RankedSong]
    ) {
        self.window = window
        self.from = from
        self.to = to
        self.minimumRooms = minimumRooms
        self.songs = songs
    }

    /// The body.
    package func encoded(areArtists: Bool) -> [UInt8] {
        HTTPBody.object(capacity: 128 + songs.count * 120) { writer in
            writer.members(of: self, areArtists: areArtists)
        }
    }
}

extension HTTPBody {
    /// Writes `{"epoch","seq","plays":[…],"next"?}`: songs that were on air, newest first.
    package static func plays(_ plays: [PlayedSong], at position: Position, next: String?) -> [UInt8] {
        object(capacity: 128 + plays.count * 240) { writer in
            writer.member("epoch", position.epoch)
            writer.member("seq", position.seq)
            writer.name("plays")
            writer.beginArray()
            for play in plays {
                writer.beginObject()
                writer.member("entry", id: play.entry)
                writer.members(of: play.song)
                writer.member("startedAt", play.startedAt)
                writer.member("endedAt", play.endedAt)
                writer.member("reason", choice: play.reason)
                writer.member("playedMs", play.playedMs)
                writer.member("isPlay", play.isPlay)
                writer.endObject()
            }
            writer.endArray()
            writer.member("next", next)
        }
    }

    /// Writes `{"epoch","seq","tracks":[…]}`, or with `artists`: what was played most in a room.
    package static func ranked(_ songs: [RankedSong], areArtists: Bool, at position: Position) -> [UInt8] {
        object(capacity: 128 + songs.count * 200) { writer in
            writer.member("epoch", position.epoch)
            writer.member("seq", position.seq)
            writer.members(ranked: songs, areArtists: areArtists)
        }
    }
}

extension JSONWriter {
    /// Writes a member with counts by span; what is 0 is left out.
    mutating func member(_ name: StaticString, _ buckets: [StatisticsBucket]) {
        self.name(name)
        self.beginArray()
        for bucket in buckets { self.object(bucket) }
        self.endArray()
    }

    /// Writes counts as an object; what is 0 is left out.
    mutating func object(_ bucket: StatisticsBucket) {
        self.beginObject()
        self.member("at", bucket.at)
        self.members(of: bucket.counts)
        self.endObject()
    }

    private mutating func members(of counts: [StatisticsMetric: Int]) {
        for metric in StatisticsMetric.allCases {
            guard let count = counts[metric], count != 0 else { continue }
            switch metric {
            case .starts: self.member("starts", count)
            case .plays: self.member("plays", count)
            case .skips: self.member("skips", count)
            case .playedMs: self.member("playedMs", count)
            case .votes: self.member("votes", count)
            case .unvotes: self.member("unvotes", count)
            case .requests: self.member("requests", count)
            case .joins: self.member("joins", count)
            case .leaves: self.member("leaves", count)
            case .tracksAdded: self.member("tracksAdded", count)
            }
        }
    }

    fileprivate mutating func members(of song: CountedSong) {
        self.member("track", id: song.track)
        self.member("source", song.source)
        self.member("sourceId", song.sourceID)
        self.member("title", song.title)
        self.member("artist", song.artist)
        self.member("addedBy", id: song.addedBy)
    }

    mutating func members(of top: TopAnswer, areArtists: Bool) {
        self.member("window", choice: top.window)
        self.member("from", top.from)
        self.member("to", top.to)
        self.member("minimumRooms", top.minimumRooms)
        self.members(ranked: top.songs, areArtists: areArtists)
    }

    /// Writes the member `tracks` or `artists`.
    mutating func members(ranked songs: [RankedSong], areArtists: Bool) {
        if areArtists { self.name("artists") } else { self.name("tracks") }
        self.beginArray()
        for ranked in songs {
            self.beginObject()
            if areArtists {
                self.member("artist", ranked.song.artist)
            } else {
                self.members(of: ranked.song)
            }
            self.member("plays", ranked.plays)
            self.member("skips", ranked.skips)
            self.member("playedMs", ranked.playedMs)
            self.member("rooms", ranked.rooms)
            self.endObject()
        }
        self.endArray()
    }
}
