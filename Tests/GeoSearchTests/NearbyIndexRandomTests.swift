import FoundationEssentials
import GeoTestSupport
import RandomTestSupport
import Testing

@testable import GeoSearch

/// Compared with a search through every room: identical ids in identical order, at distances equal to the last bit.
///
/// 10,000 queries over 200,000 rooms: `swift run -c release NearbyLoad check`, some minutes.
@Suite struct NearbyIndexRandomTests {
    @Test(arguments: Scatter.allCases)
    func `answers equal those of a search through every room`(scatter: Scatter) throws {
        var random = SeededRandom.fresh("\(#function) \(scatter)")
        var truth = BruteForce()
        for _ in 0..<1_500 { truth.rooms[UUID.random(using: &random)] = scatter.point(using: &random) }
        // Some are elsewhere, so that the world is not empty.
        for _ in 0..<300 { truth.rooms[UUID.random(using: &random)] = Scatter.uniform.point(using: &random) }
        let index = NearbyIndex(truth.rooms)
        index.checkInvariants()
        for _ in 0..<60 {
            let query = Query(around: random.once(in: 5) ? .uniform : scatter, using: &random)
            let hits = index.nearest(to: query.origin, within: query.radius, limit: query.limit)
            #expect(hits == truth.nearest(to: query.origin, within: query.radius, limit: query.limit), "\(query)")
        }
    }

    @Test func `after any history an index answers as a new one does`() throws {
        var random = SeededRandom.fresh()
        var (index, truth) = (NearbyIndex(), BruteForce())
        var ids: [UUID] = []
        for step in 0..<20_000 {
            let scatter = Scatter.allCases[step / 700 % Scatter.allCases.count]
            // The index grows for a while, then shrinks to nothing, then grows again.
            let grows = step % 8_000 < 5_000
            if ids.isEmpty || !random.once(in: grows ? 3 : 20) && grows {
                let (id, place) = (UUID.random(using: &random), scatter.point(using: &random))
                #expect(index.place(id, at: place) == nil)
                truth.rooms[id] = place
                ids.append(id)
            } else if random.once(in: 3) {
                let (id, place) = (ids[Int.random(in: ids.indices, using: &random)], scatter.point(using: &random))
                #expect(index.place(id, at: place) == truth.rooms[id])
                truth.rooms[id] = place
            } else {
                let position = Int.random(in: ids.indices, using: &random)
                ids.swapAt(position, ids.count - 1)
                let id = ids.removeLast()
                #expect(index.remove(id) == truth.rooms[id])
                truth.rooms[id] = nil
            }
            guard step % 500 == 499 else { continue }
            index.checkInvariants()
            #expect(index.count == truth.rooms.count)
            let fresh = NearbyIndex(truth.rooms)
            for _ in 0..<3 {
                let query = Query(around: scatter, using: &random)
                let hits = index.nearest(to: query.origin, within: query.radius, limit: query.limit)
                #expect(hits == fresh.nearest(to: query.origin, within: query.radius, limit: query.limit), "\(query)")
                #expect(hits == truth.nearest(to: query.origin, within: query.radius, limit: query.limit), "\(query)")
            }
            if let id = ids.last { #expect(index.coordinate(of: id) == truth.rooms[id]) }
        }
    }

    @Test func `thousands of rooms at one place are found in the order of their ids, and others beside them`() throws {
        var random = SeededRandom.fresh()
        let here = try at(48.2, 16.4)
        var truth = BruteForce()
        for number in 0..<3_000 {
            truth.rooms[UUID.random(using: &random)] =
                number % 10 == 0 ? Scatter.near(here, within: 100, using: &random) : here
        }
        var index = NearbyIndex(truth.rooms)
        index.checkInvariants()
        for (origin, limit) in [(here, 1), (here, 50), (try at(48.2001, 16.4), 200), (try at(-48.2, -163.6), 200)] {
            #expect(
                index.nearest(to: origin, within: 20_037_508, limit: limit)
                    == truth.nearest(to: origin, within: 20_037_508, limit: limit))
        }
        for id in truth.rooms.keys.sorted().prefix(2_900) {
            index.remove(id)
            truth.rooms[id] = nil
        }
        index.checkInvariants()
        #expect(
            index.nearest(to: here, within: 1_000, limit: 200) == truth.nearest(to: here, within: 1_000, limit: 200))
    }

    @Test func `rooms that come in order make no deeper tree than rooms in disorder`() throws {
        var index = NearbyIndex()
        for number in 0..<20_000 {
            index.place(id(UInt8(number % 256), filler: UInt8(number / 256)), at: try at(Double(number) / 1_000, 7))
        }
        index.checkInvariants()
        #expect(index.depth <= 40)
    }
}
