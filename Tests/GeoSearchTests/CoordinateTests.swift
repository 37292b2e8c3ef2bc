import GeoSearch
import GeoTestSupport
import RandomTestSupport
import Testing

@Suite struct CoordinateTests {
    @Test(
        arguments: [
            (90.1, 0), (-90.1, 0), (0, 180.1), (0, -180.1), (.nan, 0), (0, .nan), (.infinity, 0), (0, -.infinity),
            (95, 200), (90.0.nextUp, 0), (0, (-180.0).nextDown), (.nan, .nan), (.signalingNaN, 0),
            (-.greatestFiniteMagnitude, 0), (0, 1e300),
        ] as [(Double, Double)])
    func `an invalid point is refused, never clamped or wrapped`(latitude: Double, longitude: Double) {
        #expect(Coordinate(latitude: latitude, longitude: longitude) == nil)
    }

    @Test func `each point has exactly one representation`() throws {
        let zero = try #require(Coordinate(latitude: -0.0, longitude: -0.0))
        #expect(zero.latitude.sign == .plus)
        #expect(zero.longitude.sign == .plus)
        #expect(Coordinate(latitude: 10, longitude: -180) == Coordinate(latitude: 10, longitude: 180))
        #expect(Coordinate(latitude: 90, longitude: 77) == Coordinate(latitude: 90, longitude: 0))
        #expect(Coordinate(latitude: -90, longitude: -180)?.longitude == 0)
    }

    @Test func `rounding gives the centre of a cell`() throws {
        // 100 m: 200,151 bands of latitude, in this one 266,772 cells.
        let point = try #require(Coordinate(latitude: 48.20849, longitude: 16.37208))
        let rounded = point.rounded(toCellsOf: 100)
        #expect(abs(rounded.latitude - 48.20810288232386) < 1e-10, "\(rounded)")
        #expect(abs(rounded.longitude - 16.372407898879942) < 1e-10, "\(rounded)")
    }

    @Test(arguments: [0, -1, .nan, -.infinity, 0.000_1, 1e-300] as [Double])
    func `a cell size of zero turns rounding off`(meters: Double) throws {
        let point = try #require(Coordinate(latitude: 48.20849, longitude: 16.37208))
        #expect(point.rounded(toCellsOf: meters).coordinate == point)
    }

    @Test(arguments: [1e9, .infinity, .greatestFiniteMagnitude] as [Double])
    func `a cell larger than the Earth is the Earth`(meters: Double) throws {
        let point = try #require(Coordinate(latitude: 48.20849, longitude: 16.37208))
        #expect(point.rounded(toCellsOf: meters).coordinate == Coordinate(latitude: 0, longitude: 0))
    }

    @Test func `both sides of the antimeridian share its cell's neighbours and one point has one cell`() throws {
        let west = try #require(Coordinate(latitude: 10, longitude: -180))
        let east = try #require(Coordinate(latitude: 10, longitude: 180))
        #expect(west.rounded(toCellsOf: 100) == east.rounded(toCellsOf: 100))
        #expect(abs(abs(east.rounded(toCellsOf: 100).longitude) - 180) < 0.001)
    }

    @Test func `the poles round to cells beside them`() throws {
        for latitude in [90.0, -90.0] {
            let pole = try #require(Coordinate(latitude: latitude, longitude: 0))
            let rounded = pole.rounded(toCellsOf: 1_000)
            #expect(abs(rounded.latitude - latitude) < 0.005)
            #expect(rounded.coordinate.rounded(toCellsOf: 1_000) == rounded)
        }
    }

    @Test func `rounding twice is rounding once, and moves a point by less than a cell`() throws {
        let seed = TestSeed.fixed(42)
        print("rounding, seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            let sizes = [0.001, 0.01, 1, 50, 100, 777.7, 5_000, 123_456, 5_000_000]
            let meters = try #require(sizes.randomElement(using: &random))
            let scatter = try #require(Scatter.allCases.randomElement(using: &random))
            let point = scatter.point(using: &random)
            let rounded = point.rounded(toCellsOf: meters)
            #expect(rounded.coordinate.rounded(toCellsOf: meters) == rounded, "\(point) \(meters)")
            let again = Coordinate(latitude: rounded.latitude, longitude: rounded.longitude)
            #expect(again.map { RoundedLocation(stored: $0) } == rounded, "\(point) \(meters)")
            // Half a cell, which may be half as large again as requested, plus floating-point rounding.
            let reach = meters / 111_195.08 * 0.75 + 1e-12
            #expect(abs(rounded.latitude - point.latitude) <= reach, "\(point) \(meters)")
        }
    }

    @Test func `all points of a cell round alike`() throws {
        let centre = try #require(Coordinate(latitude: 48.2, longitude: 16.4)).rounded(toCellsOf: 100)
        let height = 100 / 111_195.08
        let width = height / 0.666
        for (north, east) in [(0.49, 0.49), (-0.49, 0.49), (0.49, -0.49), (-0.49, -0.49)] {
            let point = try #require(
                Coordinate(latitude: centre.latitude + north * height, longitude: centre.longitude + east * width))
            #expect(point.rounded(toCellsOf: 100) == centre)
        }
    }
}
