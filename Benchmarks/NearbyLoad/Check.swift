import ArgumentParser
import FoundationEssentials
import GeoSearch
import GeoTestSupport
import RandomTestSupport

/// Compares the index with a brute-force search.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares the answers to random queries with those of brute force.")

    @Option(help: "Rooms, as many of each kind of scatter.")
    var rooms: Int = 200_000

    @Option(help: "Queries, as many of each kind of scatter.")
    var queries: Int = 10_000

    @Option(help: "What the random numbers begin with.")
    var seed: UInt64 = .random(in: 0...999_999)

    func run() throws {
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        var index = NearbyIndex()
        var truth = BruteForce()
        for number in 0..<rooms {
            let id = UUID.random(using: &random)
            let coordinate = Scatter.allCases[number % Scatter.allCases.count].point(using: &random)
            index.place(id, at: coordinate)
            truth.rooms[id] = coordinate
        }
        var found = 0
        for number in 0..<queries {
            let query = Query(around: Scatter.allCases[number % Scatter.allCases.count], using: &random)
            let hits = index.nearest(to: query.origin, within: query.radius, limit: query.limit)
            let expected = truth.nearest(to: query.origin, within: query.radius, limit: query.limit)
            guard hits == expected else { throw Defect("\(query): \(hits) instead of \(expected)") }
            found += hits.count
        }
        report([("rooms", Double(rooms)), ("queries", Double(queries)), ("hits", Double(found))])
    }
}
