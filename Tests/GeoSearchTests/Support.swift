import FoundationEssentials
import GeoSearch
import Testing

/// A point that must be valid.
func at(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
    try #require(Coordinate(latitude: latitude, longitude: longitude))
}

/// The id whose last byte is a number and whose other bytes are another.
func id(_ number: UInt8, filler: UInt8 = 0) -> UUID {
    let f = filler
    return UUID(uuid: (f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, number))
}

extension NearbyIndex {
    /// An index of some rooms.
    init(_ rooms: [UUID: Coordinate]) {
        self.init()
        for (id, coordinate) in rooms { self.place(id, at: coordinate) }
    }
}
