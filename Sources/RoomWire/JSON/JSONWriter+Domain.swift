import GeoSearch
internal import RoomDomain

/// How the parts of a room are written, wherever they appear.
extension JSONWriter {
    mutating func member<ID: RawRepresentable<Int>>(_ name: StaticString, id: ID?) {
        self.member(name, id?.rawValue)
    }

    mutating func member<Choice: RawRepresentable<String>>(_ name: StaticString, choice: Choice?) {
        self.member(name, choice?.rawValue)
    }

    mutating func member(_ name: StaticString, _ instant: Timestamp?) {
        self.member(name, instant?.milliseconds)
    }

    mutating func member<ID: RawRepresentable<Int>>(_ name: StaticString, ids: some Sequence<ID>) {
        self.name(name)
        self.beginArray()
        for id in ids { self.integer(id.rawValue) }
        self.endArray()
    }

    mutating func member(_ name: StaticString, _ location: Coordinate?) {
        guard let location else { return }
        self.name(name)
        self.beginObject()
        self.member("lat", location.latitude)
        self.member("lon", location.longitude)
        self.endObject()
    }

    mutating func member(_ name: StaticString, _ settings: RoomSettings?) {
        guard let settings else { return }
        self.name(name)
        self.beginObject()
        self.member("queueMode", choice: settings.queueMode)
        self.member("skipRatio", settings.skipRatio)
        self.member("maxWaitingPerMember", settings.maxWaitingPerMember)
        self.member("repeatAfterPlays", settings.repeatAfterPlays)
        if settings.guestsMayAdd { self.member("guestsMayAdd", true) }
        if settings.queueLocked { self.member("queueLocked", true) }
        if settings.slowModeMs > 0 { self.member("slowModeMs", settings.slowModeMs) }
        if settings.ownerAwayMs > 0 { self.member("ownerAwayMs", settings.ownerAwayMs) }
        self.endObject()
    }

    /// The members of a track that its catalogue gives.
    mutating func members(of info: TrackInfo) {
        self.member("source", info.source)
        self.member("sourceId", info.sourceID)
        self.member("title", info.title)
        self.member("artist", info.artist)
        self.member("album", info.album)
        self.member("durationMs", info.durationMs)
        self.member("artworkUrl", info.artworkURL)
    }

    /// The members of something that was on air.
    mutating func members(of entry: HistoryEntry) {
        self.member("entry", id: entry.entry)
        self.member("track", id: entry.track)
        self.member("title", entry.title)
        self.member("artist", entry.artist)
        self.member("startedAt", entry.startedAt)
        self.member("endedAt", entry.endedAt)
        self.member("reason", choice: entry.reason)
        self.member("playedMs", entry.playedMs)
    }
}
