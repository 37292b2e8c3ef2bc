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

@Suite struct GreatCircleDistanceTests {
    /// Half of the circumference.
    private let half = Double.pi * Earth.radius

    @Test func `between antipodes the formula is clamped`() throws {
        let distance = greatCircleDistance(
            from: try at(65.09034271683089, -121.96981239217565), to: try at(-65.0903427168311, 58.03018760782425))
        #expect(abs(distance - 20_015_114.442) < 0.001)
        #expect(distance == half)
    }

    @Test(
        arguments: [
            // A degree of a meridian and of the equator: π R / 180.
            (0, 0, 1, 0, 111_195.079_734), (0, 0, 0, 1, 111_195.079_734), (0, 179.5, 0, -179.5, 111_195.079_734),
            // From pole to pole, from a pole to the equator, over a pole.
            (90, 0, -90, 0, 20_015_114.442_036), (90, 12, 0, 77, 10_007_557.221_018),
            (89, 10, 89, -170, 222_390.159_469),
            // Across the antimeridian, and from both of its longitudes.
            (10, 180, 10, -180, 0), (0, -180, 0, 179, 111_195.079_734),
        ] as [(Double, Double, Double, Double, Double)])
    func `known distances`(fromLat: Double, fromLon: Double, toLat: Double, toLon: Double, meters: Double) throws {
        let distance = greatCircleDistance(from: try at(fromLat, fromLon), to: try at(toLat, toLon))
        #expect(abs(distance - meters) < 0.001, "\(distance)")
    }

    @Test func `a point is at no distance from itself, and both ways are as long`() throws {
        var random = SeededRandom.fresh()
        for number in 0..<20_000 {
            let scatter = Scatter.allCases[number % Scatter.allCases.count]
            let (here, there) = (scatter.point(using: &random), Scatter.uniform.point(using: &random))
            #expect(greatCircleDistance(from: here, to: here) == 0)
            #expect(greatCircleDistance(from: here, to: there) == greatCircleDistance(from: there, to: here))
        }
    }

    @Test func `the error is what the documentation says`() throws {
        var random = SeededRandom.fresh()
        for number in 0..<50_000 {
            let scatter = Scatter.allCases[number % Scatter.allCases.count]
            let here = scatter.point(using: &random)
            var there = number % 2 == 0 ? scatter.point(using: &random) : Scatter.uniform.point(using: &random)
            if number % 7 == 0 {
                let opposite = try at(-here.latitude, (here.longitude + 180).remainder(dividingBy: 360))
                there = Scatter.near(opposite, within: 1_000_000, using: &random)
            }
            let distance = greatCircleDistance(from: here, to: there)
            let reference = Self.angle(here, there) * Earth.radius
            // The reference itself has an error of some ulps of its angles.
            let allowed =
                switch half - reference {
                case 10_000_000...: 1e-7
                case 600_000...: 1e-6
                case 600...: 1e-3
                default: 1.1
                }
            #expect(abs(distance - reference) <= allowed + 2e-8, "\(here) \(there) \(distance) \(reference)")
            #expect((0...half).contains(distance))
        }
    }

    /// The angle between two points from the products of their vectors, which is exact at antipodes too.
    private static func angle(_ a: Coordinate, _ b: Coordinate) -> Double {
        let (phi, psi) = (a.latitude * .pi / 180, b.latitude * .pi / 180)
        let lambda = (b.longitude - a.longitude) * .pi / 180
        let across = cos(psi) * sin(lambda)
        let along = cos(phi) * sin(psi) - sin(phi) * cos(psi) * cos(lambda)
        return atan2(
            (across * across + along * along).squareRoot(), sin(phi) * sin(psi) + cos(phi) * cos(psi) * cos(lambda))
    }
}
