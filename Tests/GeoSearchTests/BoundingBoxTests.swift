import GeoSearch
import GeoTestSupport
import RandomTestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite struct BoundingBoxTests {
    /// The length of a degree of latitude in metres.
    private let degree = Double.pi * Earth.radius / 180

    @Test func `away from poles and antimeridian there is one range of each`() throws {
        let box = BoundingBox(around: try at(60, 10), radius: degree)
        #expect(abs(box.latitudes.lowerBound - 59) < 1e-8)
        #expect(abs(box.latitudes.upperBound - 61) < 1e-8)
        // asin(sin 1° / cos 60°) = 2.000305°, a little more than 1° / cos 60°.
        #expect(box.longitudes.count == 1)
        #expect(abs(box.longitudes[0].lowerBound - (10 - 2.000_304_6)) < 1e-6)
        #expect(abs(box.longitudes[0].upperBound - (10 + 2.000_304_6)) < 1e-6)
    }

    @Test(arguments: [(179.5, 178.5, -179.5), (-179.5, 179.5, -178.5), (180, 179, -179)] as [(Double, Double, Double)])
    func `across the antimeridian there are two ranges`(longitude: Double, west: Double, east: Double) throws {
        let box = BoundingBox(around: try at(0, longitude), radius: degree)
        try #require(box.longitudes.count == 2)
        #expect(abs(box.longitudes[0].lowerBound - west) < 1e-8)
        #expect(box.longitudes[0].upperBound == 180)
        #expect(box.longitudes[1].lowerBound == -180)
        #expect(abs(box.longitudes[1].upperBound - east) < 1e-8)
    }

    @Test func `a box that ends at the antimeridian holds it`() throws {
        let (west, east) = (try at(0, -179), try at(0, 179))
        for centre in [west, east] {
            #expect(BoundingBox(around: centre, radius: degree).contains(try at(0, 180)))
        }
    }

    @Test(arguments: [(89.5, 88.5, 90.0), (-89.5, -90.0, -88.5), (90, 89, 90), (-90, -90, -89)])
    func `a box that contains a pole has all longitudes`(latitude: Double, south: Double, north: Double) throws {
        let box = BoundingBox(around: try at(latitude, 33), radius: degree)
        #expect(box.longitudes == [-180...180])
        #expect(abs(box.latitudes.lowerBound - south) < 1e-8)
        #expect(abs(box.latitudes.upperBound - north) < 1e-8)
    }

    @Test(arguments: [88, 89.5, 80, 0])
    func `near a pole the circle's easternmost point is in the box, and the box ends there`(latitude: Double) throws {
        let radius = latitude == 89.5 ? 50_000.0 : 100_000
        let centre = try at(latitude, 0)
        let (r, phi) = (radius / Earth.radius, latitude * .pi / 180)
        let width = asin(sin(r) / cos(phi)) * 180 / .pi
        let box = BoundingBox(around: centre, radius: radius)
        // The latitude at which the circle touches the meridian: sin φ / cos r.
        let touching = asin(sin(phi) / cos(r)) * 180 / .pi
        let point = try at(touching, width)
        #expect(abs(greatCircleDistance(from: centre, to: point) - radius) < 0.001)
        #expect(box.contains(point))
        #expect(!box.contains(try at(touching, width + 1e-6)))
    }

    @Test(arguments: [10_007_557.3, 15_000_000, 20_037_508, .infinity])
    func `from a quarter of the circumference on it is the whole Earth`(radius: Double) throws {
        let box = BoundingBox(around: try at(12, 34), radius: radius)
        #expect(box.latitudes == -90...90)
        #expect(box.longitudes == [-180...180])
    }

    @Test func `no point within the radius is outside of the box`() throws {
        var random = SeededRandom.fresh()
        var within = 0
        for number in 0..<100_000 {
            let scatter = Scatter.allCases[number % Scatter.allCases.count]
            let centre = scatter.point(using: &random)
            let reach = exp(Double.random(in: 0...16, using: &random))
            let isFar = number % 3 == 0
            let point =
                isFar ? Scatter.uniform.point(using: &random) : Scatter.near(centre, within: reach, using: &random)
            // The point lies on the circle's edge, or as near to it as floating point allows.
            let distance = greatCircleDistance(from: centre, to: point)
            for radius in [distance, distance.nextUp, distance * 1.01, reach] where distance <= radius {
                within += 1
                let box = BoundingBox(around: centre, radius: radius)
                #expect(box.contains(point), "\(point) is \(distance) m from \(centre), radius \(radius)")
            }
        }
        #expect(within > 300_000)
    }

    @Test func `each side of the box touches the circle`() throws {
        var random = SeededRandom.fresh()
        for _ in 0..<20_000 {
            let centre = Scatter.uniform.point(using: &random)
            let radius = exp(Double.random(in: 3...13, using: &random))
            let box = BoundingBox(around: centre, radius: radius)
            for latitude in [box.latitudes.lowerBound, box.latitudes.upperBound] where abs(latitude) < 90 {
                let distance = greatCircleDistance(from: centre, to: try at(latitude, centre.longitude))
                #expect(abs(distance - radius) < 0.001, "\(centre) \(radius)")
            }
            guard box.longitudes != [-180...180] else { continue }
            let sine = sin(centre.latitude * .pi / 180) / cos(radius / Earth.radius)
            let touching = asin(sine) * 180 / .pi
            let ends = [box.longitudes[0].lowerBound, box.longitudes[box.longitudes.count - 1].upperBound]
            for longitude in ends {
                let distance = greatCircleDistance(from: centre, to: try at(touching, longitude))
                #expect(abs(distance - radius) < 0.05, "\(centre) \(radius)")
            }
        }
    }
}
