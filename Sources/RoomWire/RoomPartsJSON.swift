import GeoSearch
internal import RoomDomain

/// Writes the parts of a room, wherever they appear.
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

    mutating func member(_ name: StaticString, _ location: RoundedLocation?) {
        self.member(name, location?.coordinate)
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
        if !settings.countedAcrossRooms { self.member("countedAcrossRooms", false) }
        self.endObject()
    }

    /// Writes the settings to change, or nothing if there are none.
    mutating func member(_ name: StaticString, _ update: SettingsUpdate) {
        guard update != SettingsUpdate() else { return }
        self.name(name)
        self.beginObject()
        self.member("queueMode", choice: update.queueMode)
        self.member("skipRatio", update.skipRatio)
        self.member("maxWaitingPerMember", update.maxWaitingPerMember)
        self.member("repeatAfterPlays", update.repeatAfterPlays)
        self.member("guestsMayAdd", update.guestsMayAdd)
        self.member("queueLocked", update.queueLocked)
        self.member("slowModeMs", update.slowModeMs)
        self.member("ownerAwayMs", update.ownerAwayMs)
        self.member("countedAcrossRooms", update.countedAcrossRooms)
        self.endObject()
    }

    /// Writes the members of a track that its catalogue provides.
    mutating func members(of info: TrackInfo) {
        self.member("source", info.source)
        self.member("sourceId", info.sourceID)
        self.member("title", info.title)
        self.member("artist", info.artist)
        self.member("album", info.album)
        self.member("durationMs", info.durationMs)
        self.member("artworkUrl", info.artworkURL)
    }

    /// Writes the members of an entry of the history.
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

/// Reads the parts of a room, wherever they appear.
extension JSONFields {
    func instant(_ name: String) throws(FieldViolation) -> Timestamp {
        Timestamp(milliseconds: try self.integer(name))
    }

    func instantIfPresent(_ name: String) throws(FieldViolation) -> Timestamp? {
        try self.integerIfPresent(name).map(Timestamp.init(milliseconds:))
    }

    func sessionID(_ name: String) throws(FieldViolation) -> SessionID {
        guard let id = SessionID(try self.string(name)) else { throw self.violation(name, "a UUID") }
        return id
    }

    func roomID(_ name: String) throws(FieldViolation) -> RoomID {
        guard let id = RoomID(try self.string(name)) else { throw self.violation(name, "a UUID") }
        return id
    }

    func roomCode(_ name: String) throws(FieldViolation) -> RoomCode {
        guard let code = RoomCode(try self.string(name)) else {
            throw self.violation(name, "six or eight characters of Crockford's base 32")
        }
        return code
    }

    func waveformName(_ name: String) throws(FieldViolation) -> WaveformName {
        guard let waveform = WaveformName(try self.string(name)) else {
            throw self.violation(name, "\(WaveformName.length) characters of base64url")
        }
        return waveform
    }

    func waveformNameIfPresent(_ name: String) throws(FieldViolation) -> WaveformName? {
        self[name] == nil ? nil : try self.waveformName(name)
    }

    /// Reads a valid point; `path` is the location's own path.
    func locationIfPresent(_ name: String, at path: StaticString) throws(FieldViolation) -> Coordinate? {
        guard let value = self[name] else { return nil }
        let fields = try JSONFields(value, at: path)
        let latitude = try fields.number("lat")
        let longitude = try fields.number("lon")
        guard let location = Coordinate(latitude: latitude, longitude: longitude) else {
            throw (-90.0...90.0).contains(latitude)
                ? fields.violation("lon", "-180 to 180") : fields.violation("lat", "-90 to 90")
        }
        return location
    }

    /// Reads the location of an event, a state or a summary; `path` is the location's own path.
    func roundedLocationIfPresent(_ name: String, at path: StaticString) throws(FieldViolation) -> RoundedLocation? {
        try locationIfPresent(name, at: path).map { RoundedLocation(stored: $0) }
    }

    /// Reads the settings that are given; `path` is the settings' own path.
    ///
    /// A name that no setting has is a violation: a mistyped setting would otherwise be acknowledged and change
    /// nothing.
    func settingsUpdate(_ name: String, at path: StaticString) throws(FieldViolation) -> SettingsUpdate {
        var update = SettingsUpdate()
        guard let value = self[name] else { return update }
        let fields = try JSONFields(value, at: path)
        try fields.requireNames(among: Self.settingNames)
        update.queueMode = try fields.choiceIfPresent("queueMode")
        update.skipRatio = try fields.numberIfPresent("skipRatio")
        update.maxWaitingPerMember = try fields.countIfPresent("maxWaitingPerMember")
        update.repeatAfterPlays = try fields.countIfPresent("repeatAfterPlays")
        update.guestsMayAdd = try fields.boolIfPresent("guestsMayAdd")
        update.queueLocked = try fields.boolIfPresent("queueLocked")
        update.slowModeMs = try fields.countIfPresent("slowModeMs")
        update.ownerAwayMs = try fields.countIfPresent("ownerAwayMs")
        update.countedAcrossRooms = try fields.boolIfPresent("countedAcrossRooms")
        return update
    }

    /// The names of all settings.
    private static let settingNames: Set<String> = [
        "queueMode", "skipRatio", "maxWaitingPerMember", "repeatAfterPlays", "guestsMayAdd", "queueLocked",
        "slowModeMs", "ownerAwayMs", "countedAcrossRooms",
    ]

    /// Reads all settings; `path` is the settings' own path.
    ///
    /// Other names are ignored, because stored events may be those of a later release.
    func settings(_ name: String, at path: StaticString) throws(FieldViolation) -> RoomSettings {
        let fields = try JSONFields(self[name] ?? .null, at: path)
        var settings = RoomSettings()
        settings.queueMode = try fields.choice("queueMode")
        settings.skipRatio = try fields.number("skipRatio")
        settings.maxWaitingPerMember = try fields.count("maxWaitingPerMember")
        settings.repeatAfterPlays = try fields.count("repeatAfterPlays")
        settings.guestsMayAdd = try fields.boolIfPresent("guestsMayAdd") ?? false
        settings.queueLocked = try fields.boolIfPresent("queueLocked") ?? false
        settings.slowModeMs = try fields.countIfPresent("slowModeMs") ?? 0
        settings.ownerAwayMs = try fields.countIfPresent("ownerAwayMs") ?? 0
        settings.countedAcrossRooms = try fields.boolIfPresent("countedAcrossRooms") ?? true
        return settings
    }

    /// Reads the reason for an act, in a command or an event.
    func note() throws(FieldViolation) -> String? { try self.stringIfPresent("reason") }

    /// Reads the metadata of a track that its catalogue provides.
    func trackInfo() throws(FieldViolation) -> TrackInfo {
        TrackInfo(
            source: try self.string("source"), sourceID: try self.string("sourceId"), title: try self.string("title"),
            artist: try self.stringIfPresent("artist"), album: try self.stringIfPresent("album"),
            durationMs: try self.integerIfPresent("durationMs"), artworkURL: try self.stringIfPresent("artworkUrl"))
    }
}

extension HistoryEntry {
    /// Reads an entry of the history.
    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            entry: try fields.id("entry"), track: try fields.id("track"), title: try fields.string("title"),
            artist: try fields.stringIfPresent("artist"), startedAt: try fields.instant("startedAt"),
            endedAt: try fields.instant("endedAt"), reason: try fields.choice("reason"),
            playedMs: try fields.integer("playedMs"))
    }
}
