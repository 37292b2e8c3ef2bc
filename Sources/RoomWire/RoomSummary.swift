package import GeoSearch
package import RoomDomain

/// A room as listings show it (protocol, section 2).
package struct RoomSummary: Sendable, Equatable {
    /// The song on air.
    package struct NowPlaying: Sendable, Equatable {
        /// The track's title.
        package var title: String
        /// The track's artist.
        package var artist: String?

        package init(title: String, artist: String?) {
            self.title = title
            self.artist = artist
        }
    }

    /// The room's identifier.
    package var id: RoomID
    /// Its code.
    package var code: RoomCode
    /// Its name.
    package var name: String
    /// Its location, rounded.
    package var location: RoundedLocation?
    /// The number of members with a connection that is subscribed to it.
    package var listeners: Int
    /// The name of the member who plays: the owner or a DJ.
    package var djName: String?
    /// The song on air; nil when playback is stopped.
    package var nowPlaying: NowPlaying?
    /// The time when it was made.
    package var createdAt: Timestamp
    /// Its distance from the search's centre, in metres; nil outside nearby searches.
    package var distanceMeters: Double?
    /// The role of the session that asks for its own rooms; nil in all other lists.
    package var role: Role?

    package init(
        id: RoomID, code: RoomCode, name: String, location: RoundedLocation?, listeners: Int, djName: String?,
        nowPlaying: NowPlaying?, createdAt: Timestamp, distanceMeters: Double? = nil, role: Role? = nil
    ) {
        self.id = id
        self.code = code
        self.name = name
        self.location = location
        self.listeners = listeners
        self.djName = djName
        self.nowPlaying = nowPlaying
        self.createdAt = createdAt
        self.distanceMeters = distanceMeters
        self.role = role
    }
}

extension RoomSummary {
    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            id: try fields.roomID("id"), code: try fields.roomCode("code"), name: try fields.string("name"),
            location: try fields.roundedLocationIfPresent("location", at: "location"),
            listeners: try fields.count("listeners"), djName: try fields.stringIfPresent("djName"),
            nowPlaying: try fields.objectIfPresent("nowPlaying", NowPlaying.init),
            createdAt: try fields.instant("createdAt"),
            distanceMeters: try fields.numberIfPresent("distanceMeters"),
            role: fields["role"] == nil ? nil : try fields.choice("role"))
    }
}

extension RoomSummary.NowPlaying {
    fileprivate init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(title: try fields.string("title"), artist: try fields.stringIfPresent("artist"))
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ rooms: [RoomSummary]) {
        self.name(name)
        self.beginArray()
        for room in rooms { self.value(room) }
        self.endArray()
    }

    mutating func value(_ room: RoomSummary) {
        self.beginObject()
        self.member("id", room.id.uuid)
        self.member("code", room.code.description)
        self.member("name", room.name)
        self.member("location", room.location)
        self.member("listeners", room.listeners)
        self.member("djName", room.djName)
        if let playing = room.nowPlaying {
            self.name("nowPlaying")
            self.beginObject()
            self.member("title", playing.title)
            self.member("artist", playing.artist)
            self.endObject()
        }
        self.member("createdAt", room.createdAt)
        self.member("distanceMeters", room.distanceMeters)
        if let role = room.role { self.member("role", choice: role) }
        self.endObject()
    }
}
