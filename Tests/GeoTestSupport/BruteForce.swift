package import FoundationEssentials
package import GeoSearch
package import RandomTestSupport

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Searches through every room: the reference for ``NearbyIndex``.
package struct BruteForce: Sendable {
    /// The rooms and their locations.
    package var rooms: [UUID: Coordinate]

    package init(rooms: [UUID: Coordinate] = [:]) { self.rooms = rooms }

    /// The rooms within a radius, nearest first, equal distances ordered by id.
    package func nearest(to origin: Coordinate, within radius: Double, limit: Int) -> [NearbyIndex.Hit] {
        var nearest: [NearbyIndex.Hit] = []
        for (id, coordinate) in rooms {
            let distance = greatCircleDistance(from: origin, to: coordinate)
            guard distance <= radius else { continue }
            // Sorted now and then, so that few are kept.
            if nearest.count > 10 * limit { Self.keep(limit, of: &nearest) }
            nearest.append(NearbyIndex.Hit(id: id, distance: distance))
        }
        Self.keep(limit, of: &nearest)
        return nearest
    }

    private static func keep(_ limit: Int, of hits: inout [NearbyIndex.Hit]) {
        hits.sort { ($0.distance, $0.id) < ($1.distance, $1.id) }
        hits.removeLast(max(0, hits.count - limit))
    }
}

/// A search.
package struct Query: Sendable, CustomStringConvertible {
    package let origin: Coordinate
    package let radius: Double
    package let limit: Int

    /// Makes a random query around places of one kind of scatter: 1 m … half of the circumference, 1 … 200 rooms.
    package init(around scatter: Scatter, using random: inout SeededRandom) {
        origin = scatter.point(using: &random)
        // Powers of ten are equally likely.
        radius =
            random.once(in: 20)
            ? .pi * Earth.radius : min(.pi * Earth.radius, exp(.random(in: 0...17, using: &random)))
        limit = random.once(in: 3) ? 50 : .random(in: 1...200, using: &random)
    }

    package var description: String {
        "\(limit) within \(radius) m of \(origin.latitude), \(origin.longitude)"
    }
}

extension UUID {
    /// A random id.
    package static func random(using random: inout SeededRandom) -> UUID {
        var bytes: [UInt8] = []
        for _ in 0..<16 { bytes.append(UInt8.random(in: 0...255, using: &random)) }
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}
