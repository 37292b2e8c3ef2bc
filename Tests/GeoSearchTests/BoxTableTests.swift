import GeoTestSupport
import RandomTestSupport
import Testing

@testable import GeoSearch

@Suite struct BoxTableTests {
    /// Boxes of all sizes are added, changed and removed; points are looked up near them, at their corners, and
    /// anywhere.
    @Test func `it finds the same boxes as a test of each box`() throws {
        var random = SeededRandom.fresh()
        var table = BoxTable()
        var boxes: [Int: BoundingBox] = [:]
        var found = 0
        for number in 0..<4_000 {
            let scatter = Scatter.allCases[number % Scatter.allCases.count]
            let center = scatter.point(using: &random)
            let scale: Double = [0, 1, 100, 10_000, 100_000, 1_000_000, 10_000_000].randomElement(using: &random) ?? 0
            let radius = scale * Double.random(in: 0.3...3, using: &random)
            let box = BoundingBox(around: center, radius: radius)
            let key = Int.random(in: 0..<150, using: &random)
            if let former = boxes.removeValue(forKey: key) { table.remove(former, of: key) }
            if number % 7 != 0 {
                boxes[key] = box
                table.insert(box, as: key)
            }
            #expect(table.count == boxes.count)
            for point in [
                center, scatter.point(using: &random), Scatter.near(center, within: radius * 1.5, using: &random),
                Coordinate(latitude: box.latitudes.lowerBound, longitude: box.longitudes[0].lowerBound),
                Coordinate(latitude: box.latitudes.upperBound, longitude: box.longitudes[0].upperBound),
                Coordinate(latitude: box.latitudes.upperBound.nextUp, longitude: box.longitudes[0].upperBound),
            ].compactMap({ $0 }) {
                let expected = boxes.filter { $0.value.contains(point) }.map(\.key).sorted()
                #expect(table.numbers(at: point).sorted() == expected, "\(point)")
                found += expected.count
            }
        }
        #expect(found > 10_000)
        for (key, box) in boxes { table.remove(box, of: key) }
        #expect(table.count == 0)
    }

    @Test func `boxes far from a point are not examined`() throws {
        var table = BoxTable()
        var number = 0
        func add(_ count: Int, around center: Coordinate, radius: Double) {
            for _ in 0..<count {
                table.insert(BoundingBox(around: center, radius: radius), as: number)
                number += 1
            }
        }
        // At a pole and near it, where a box has all longitudes, across the antimeridian, and in a city.
        for center in [try at(90, 0), try at(-89.999, 50), try at(10, 180), try at(52.52, 13.405)] {
            for radius in [1, 1_000, 100_000] as [Double] { add(300, around: center, radius: radius) }
        }
        func looked(at point: Coordinate) -> Int {
            var count = 0
            table.forEach(around: point) { _, _ in count += 1 }
            return count
        }
        for far in [try at(0, 0), try at(-33, 151), try at(10, 100), try at(70, 50), try at(-70, -120)] {
            #expect(looked(at: far) == 0, "\(far)")
        }
        let (pole, across) = (try at(90, 0), try at(10, -180))
        #expect(looked(at: pole) == 900 && looked(at: across) == 900)
        add(7, around: try at(5, 5), radius: 20_037_508)
        let sydney = try at(-33, 151)
        #expect(looked(at: sydney) == 7)
    }
}
