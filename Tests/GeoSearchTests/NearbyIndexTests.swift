import FoundationEssentials
import GeoSearch
import GeoTestSupport
import RandomTestSupport
import Testing

@Suite struct NearbyIndexTests {
    @Test func `an empty index finds nothing`() throws {
        let index = NearbyIndex()
        #expect(index.count == 0)
        #expect(index.nearest(to: try at(0, 0), within: 20_037_508, limit: 200) == [])
        #expect(index.coordinate(of: id(1)) == nil)
    }

    @Test func `the nearest come first, as many as asked for, none beyond the radius`() throws {
        let index = NearbyIndex([
            id(1): try at(48.21, 16.37), id(2): try at(48.2, 16.37), id(3): try at(48.3, 16.37), id(4): try at(47, 8),
        ])
        let here = try at(48.2, 16.37)
        let near = index.nearest(to: here, within: 20_000, limit: 50)
        #expect(near.map(\.id) == [id(2), id(1), id(3)])
        #expect(near[0].distance == 0)
        #expect(abs(near[1].distance - 1_111.951) < 0.001)
        #expect(index.nearest(to: here, within: 20_000, limit: 2) == Array(near.prefix(2)))
        #expect(index.nearest(to: here, within: 20_000, limit: 0) == [])
        #expect(index.nearest(to: here, within: 5_000, limit: 50) == Array(near.prefix(2)))
    }

    @Test func `a room exactly at the radius is within it`() throws {
        let index = NearbyIndex([id(1): try at(1, 1)])
        let here = try at(0, 0)
        let distance = greatCircleDistance(from: here, to: try at(1, 1))
        #expect(index.nearest(to: here, within: distance, limit: 1) == [.init(id: id(1), distance: distance)])
        #expect(index.nearest(to: here, within: distance.nextDown, limit: 1) == [])
        #expect(index.nearest(to: try at(1, 1), within: 0, limit: 1) == [.init(id: id(1), distance: 0)])
    }

    @Test func `equally near rooms come by id`() throws {
        var index = NearbyIndex()
        // Ids whose order differs between their first and their last bytes, at one place and mirrored around it.
        let ids = (0..<200).map { id(UInt8($0), filler: UInt8($0 * 37 % 256)) }
        for (number, id) in ids.enumerated() {
            index.place(id, at: try at(number % 3 == 0 ? 10.01 : 9.99, 20))
        }
        let here = try at(10, 20)
        let hits = index.nearest(to: here, within: 5_000, limit: 200)
        #expect(hits.count == 200)
        let pairs = zip(hits, hits.dropFirst())
        #expect(pairs.allSatisfy { ($0.distance, $0.id) < ($1.distance, $1.id) })
        #expect(index.nearest(to: here, within: 5_000, limit: 7) == Array(hits.prefix(7)))
    }

    @Test(arguments: [(0, 180), (10, -179.999), (90, 0), (-90, 45), (89.999, -100)] as [(Double, Double)])
    func `the antimeridian and the poles are places like any other`(latitude: Double, longitude: Double) throws {
        let here = try at(latitude, longitude)
        var random = SeededRandom(seed: TestSeed.fixed(1))
        var truth = BruteForce()
        for number in 0..<200 {
            truth.rooms[id(UInt8(number))] = Scatter.near(here, within: 50_000, using: &random)
        }
        let index = NearbyIndex(truth.rooms)
        for radius in [1, 100, 1_000, 50_000, 200_000] as [Double] {
            #expect(
                index.nearest(to: here, within: radius, limit: 200)
                    == truth.nearest(to: here, within: radius, limit: 200))
        }
    }

    @Test func `the antipode is within half of the circumference`() throws {
        let index = NearbyIndex([id(1): try at(-65.0903427168311, 58.03018760782425)])
        let hits = index.nearest(to: try at(65.09034271683089, -121.96981239217565), within: 20_037_508, limit: 1)
        #expect(hits.map(\.id) == [id(1)])
        #expect(abs((hits.first?.distance ?? 0) - 20_015_114.442) < 0.001)
    }

    @Test func `a room that is placed again has moved`() throws {
        var index = NearbyIndex()
        let (here, there) = (try at(10, 20), try at(-10, -20))
        #expect(index.place(id(1), at: here) == nil)
        #expect(index.place(id(1), at: there) == here)
        #expect(index.count == 1)
        #expect(index.coordinate(of: id(1)) == there)
        #expect(index.nearest(to: here, within: 1_000, limit: 5) == [])
        #expect(index.nearest(to: there, within: 1_000, limit: 5).map(\.id) == [id(1)])
        #expect(index.place(id(1), at: there) == there)
        #expect(index.count == 1)
    }

    @Test func `a room that is removed is gone, and removing it again changes nothing`() throws {
        var index = NearbyIndex([id(1): try at(10, 20), id(2): try at(10, 20)])
        #expect(index.remove(id(1)) == (try at(10, 20)))
        #expect(index.remove(id(1)) == nil)
        #expect(index.count == 1)
        #expect(index.coordinate(of: id(1)) == nil)
        #expect(index.nearest(to: try at(10, 20), within: 1_000, limit: 5).map(\.id) == [id(2)])
    }

    @Test func `a copy keeps what it had`() throws {
        var index = NearbyIndex([id(1): try at(10, 20)])
        let copy = index
        index.place(id(2), at: try at(10, 20))
        #expect(copy.count == 1)
        #expect(copy.nearest(to: try at(10, 20), within: 1_000, limit: 5).map(\.id) == [id(1)])
    }
}
