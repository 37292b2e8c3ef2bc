import GeoSearch
import GeoTestSupport
import Testing

@Suite struct BoxTableTests {
    /// Boxes of all sizes come, change and go; points are asked for near them, at their corners, and anywhere.
    @Test func `it finds the boxes that hold a point, as looking at each one does`() throws {
        var random = printedRandom()
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
}
