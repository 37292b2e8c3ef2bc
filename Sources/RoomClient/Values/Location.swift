import GeoSearch
import RoomDomain
import RoomWire

/// A point on the Earth, in WGS-84 degrees.
public struct Location: Sendable, Hashable {
    /// Degrees north of the equator, −90 … 90.
    public let latitude: Double
    /// Degrees east of Greenwich, above −180 and up to 180.
    public let longitude: Double
    let domain: Coordinate

    /// Nil if a number is out of range: never clamped, never wrapped.
    public init?(latitude: Double, longitude: Double) {
        guard let domain = Coordinate(latitude: latitude, longitude: longitude) else { return nil }
        self.init(domain)
    }

    init(_ domain: Coordinate) {
        self.domain = domain
        latitude = domain.latitude
        longitude = domain.longitude
    }
}

/// A circle in which rooms are looked for.
///
/// The server neither logs nor keeps its centre.
public struct Circle: Sendable, Hashable {
    /// The centre.
    public var center: Location
    /// The radius in metres, 1 to 20,037,508: up to half of the equator.
    public var radius: Double
    /// The most rooms, 1 to 200.
    public var limit: Int

    /// A circle.
    public init(center: Location, radius: Double = 5_000, limit: Int = 50) {
        self.center = center
        self.radius = radius
        self.limit = limit
    }

    var query: NearbyQuery { NearbyQuery(origin: center.domain, radiusMeters: radius, limit: limit) }

    /// Why the server would refuse the circle; nil if it would not.
    var violation: ClientError? {
        guard NearbyQuery.radii.contains(radius), NearbyQuery.limits.contains(limit) else {
            return ClientError(.badRequest, "a radius is 1 to 20,037,508 metres, and a limit 1 to 200 rooms")
        }
        return nil
    }
}

/// A room as a listing shows it.
public struct RoomSummary: Sendable, Hashable, Identifiable {
    /// The identifier.
    public let id: RoomID
    /// The code.
    public let code: String
    /// The name.
    public let name: String
    /// Where it is, rounded by the server.
    public let location: Location?
    /// The members who listen.
    public let listeners: Int
    /// The name of the DJ, if there is one.
    public let dj: String?
    /// The title that is on air.
    public let title: String?
    /// The artist of what is on air.
    public let artist: String?
    /// The distance from the centre of the search in metres; nil in other listings.
    public let distance: Double?
    /// One's own role; nil but in the list of one's own rooms.
    public let role: Role?

    init(_ wire: RoomWire.RoomSummary) {
        id = RoomID(wire.id)
        code = wire.code.description
        name = wire.name
        location = wire.location.map { Location($0.coordinate) }
        listeners = wire.listeners
        dj = wire.djName
        title = wire.nowPlaying?.title
        artist = wire.nowPlaying?.artist
        distance = wire.distanceMeters
        role = wire.role.map { Role($0) }
    }

    /// What names the room.
    public var reference: RoomReference { RoomReference(id) }
}
