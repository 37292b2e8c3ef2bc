/// Boxes by number, with a search for the boxes that contain a point, which examines only boxes near it.
///
/// There is a grid for each side length, halving from 360 degrees to 0.0055. A box is stored in the finest grid whose
/// squares are at least as long as the box, in each square that it touches: four, or eight across the antimeridian. A
/// box that contains a pole has all longitudes and is stored in at most two bands of latitude instead. A point is
/// looked up in its square and its band of each grid in use. ``BoundingBox/contains(_:)`` then decides, to the last
/// bit, whether a box contains it.
package struct BoxTable: Sendable {
    private struct Square: Hashable {
        var level: Int8
        var row: Int32
        var column: Int32
    }

    private static let finestLevel = 16
    /// The column number that stands for a whole band of latitude.
    private static let band: Int32 = -1

    private var squares: [Square: [Int: BoundingBox]] = [:]
    /// The number of boxes by level.
    private var counts = [Int](repeating: 0, count: finestLevel + 1)

    package init() {}

    /// The number of boxes.
    package var count: Int { counts.reduce(0, +) }

    /// Adds a box under a number that no other box has.
    package mutating func insert(_ box: BoundingBox, as number: Int) {
        let level = Self.level(of: box)
        counts[level] += 1
        for square in Self.squares(of: box, level) { squares[square, default: [:]][number] = box }
    }

    /// Removes a box that was added under a number.
    package mutating func remove(_ box: BoundingBox, of number: Int) {
        let level = Self.level(of: box)
        counts[level] -= 1
        for square in Self.squares(of: box, level) {
            squares[square]?[number] = nil
            if squares[square]?.isEmpty == true { squares[square] = nil }
        }
    }

    /// Returns the numbers of the boxes that contain a point, each once, in any order.
    package func numbers(at point: Coordinate) -> [Int] {
        var found: [Int] = []
        forEach(around: point) { number, box in
            if box.contains(point) { found.append(number) }
        }
        return found
    }

    /// Calls `body` with each box in the squares and bands that contain a point.
    func forEach(around point: Coordinate, _ body: (_ number: Int, _ box: BoundingBox) -> Void) {
        for level in 0...Self.finestLevel where counts[level] > 0 {
            let row = Self.row(point.latitude, level)
            for column in [Self.column(point.longitude, level), Self.band] {
                guard let boxes = squares[Square(level: Int8(level), row: row, column: column)] else { continue }
                for (number, box) in boxes { body(number, box) }
            }
        }
    }

    private static func level(of box: BoundingBox) -> Int {
        let extents = [box.latitudes] + (box.hasAllLongitudes ? [] : box.longitudes)
        let longest = extents.reduce(0) { max($0, $1.upperBound - $1.lowerBound) }
        guard longest > side(finestLevel) else { return finestLevel }
        return max(0, Int((360 / longest).exponent))
    }

    private static func squares(of box: BoundingBox, _ level: Int) -> Set<Square> {
        let rows = row(box.latitudes.lowerBound, level)...row(box.latitudes.upperBound, level)
        var squares: Set<Square> = []
        guard !box.hasAllLongitudes else {
            return Set(rows.map { Square(level: Int8(level), row: $0, column: band) })
        }
        for longitudes in box.longitudes {
            for column in column(longitudes.lowerBound, level)...column(longitudes.upperBound, level) {
                for row in rows { squares.insert(Square(level: Int8(level), row: row, column: column)) }
            }
        }
        return squares
    }

    /// The side length of a level's squares, in degrees.
    private static func side(_ level: Int) -> Double { 360 / Double(1 << level) }

    // The ends of a box and a point between them are rounded in the same way, so rounding cannot separate them.
    private static func row(_ latitude: Double, _ level: Int) -> Int32 {
        Int32(((latitude + 90) / side(level)).rounded(.down))
    }

    private static func column(_ longitude: Double, _ level: Int) -> Int32 {
        Int32(((longitude + 180) / side(level)).rounded(.down))
    }
}

extension BoundingBox {
    fileprivate var hasAllLongitudes: Bool { longitudes == [-180...180] }
}
