package import RoomDomain

/// What somebody who watches a room's counts is told.
package struct RoomCounts: Hashable, Sendable {
    /// Every event up to here is counted, none after it.
    package var position: Position
    /// Minutes, ascending.
    package var minutes: [StatisticsBucket]
    /// The sum of the day that has begun.
    package var today: StatisticsBucket

    package init(position: Position, minutes: [StatisticsBucket], today: StatisticsBucket) {
        self.position = position
        self.minutes = minutes
        self.today = today
    }
}

extension ServerMessage {
    /// A room's counts: the answer to `statistics`.
    package static func statistics(re: Int64, room: RoomID, _ counts: RoomCounts) -> [UInt8] {
        Self.message(.statistics, capacity: 256 + counts.minutes.count * 96) { writer in
            writer.member("re", re)
            writer.member("room", room.uuid)
            writer.members(of: counts)
        }
    }

    /// A room's counts that have changed.
    ///
    /// `sub` is the `id` of the message that asked for them.
    package static func statisticsDelta(sub: Int64, _ counts: RoomCounts, isWhole: Bool) -> [UInt8] {
        Self.message(.statisticsDelta, capacity: 256 + counts.minutes.count * 96) { writer in
            writer.member("sub", sub)
            if isWhole { writer.member("whole", true) }
            writer.members(of: counts)
        }
    }

    /// A room's counts are watched no longer.
    package static func statisticsEnd(sub: Int64, code: ErrorCode) -> [UInt8] {
        Self.statisticsEnd(sub: sub, code: ErrorName(code))
    }

    /// The same message with an error name that this release may not know.
    static func statisticsEnd(sub: Int64, code: ErrorName) -> [UInt8] {
        Self.message(.statisticsEnd) { writer in
            writer.member("sub", sub)
            writer.member("code", code.text)
        }
    }

    /// What is played most across rooms: the answer to `trending`.
    package static func trending(re: Int64, _ top: TopAnswer) -> [UInt8] {
        Self.message(.trending, capacity: 192 + top.songs.count * 120) { writer in
            writer.member("re", re)
            writer.members(of: top, areArtists: false)
        }
    }

    /// What is played most now.
    ///
    /// `sub` is the `id` of the message that asked for it.
    package static func trendingDelta(sub: Int64, _ top: TopAnswer) -> [UInt8] {
        Self.message(.trendingDelta, capacity: 192 + top.songs.count * 120) { writer in
            writer.member("sub", sub)
            writer.members(of: top, areArtists: false)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of counts: RoomCounts) {
        self.member("epoch", counts.position.epoch)
        self.member("seq", counts.position.seq)
        self.member("minutes", counts.minutes)
        self.name("today")
        self.object(counts.today)
    }
}

// MARK: Reading

extension ServerMessage.Received {
    static func statistics(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .statistics(re: try fields.integer("re"), room: try fields.roomID("room"), try RoomCounts(fields))
    }

    static func statisticsDelta(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .statisticsDelta(
            sub: try fields.integer("sub"), try RoomCounts(fields),
            isWhole: try fields.boolIfPresent("whole") ?? false)
    }

    static func statisticsEnd(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .statisticsEnd(sub: try fields.integer("sub"), code: try ErrorName(fields))
    }
}

extension RoomCounts {
    fileprivate init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            position: try Position(fields), minutes: try fields.elements("minutes", StatisticsBucket.init),
            today: try fields.object("today", StatisticsBucket.init))
    }
}

extension StatisticsBucket {
    fileprivate init(_ fields: JSONFields) throws(FieldViolation) {
        var counts: [StatisticsMetric: Int] = [:]
        for metric in StatisticsMetric.allCases { counts[metric] = try fields.countIfPresent(metric.rawValue) }
        self.init(at: try fields.instant("at"), counts: counts)
    }
}

extension TopAnswer {
    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            window: try fields.choice("window"), from: try fields.instant("from"), to: try fields.instant("to"),
            minimumRooms: try fields.count("minimumRooms"), songs: try fields.elements("tracks", RankedSong.init))
    }
}

extension RankedSong {
    fileprivate init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            song: CountedSong(
                track: nil, source: nil, sourceID: nil, title: try fields.string("title"),
                artist: try fields.stringIfPresent("artist"), addedBy: nil),
            plays: try fields.count("plays"), rooms: try fields.count("rooms"))
    }
}
