/// Boxes by number, to be asked which of them hold a point; those that are far from it are not looked at.
///
/// Grids of squares halve from one to the next, from 360 degrees to 0.0055. A box is kept in the finest grid whose
/// squares are at least as long as it is, in each square that it touches: four, or eight across the antimeridian. One
/// that holds a pole has all longitudes, and is kept in bands of latitude, at most two. A point is looked up in its
/// square and its band of each grid that is used. Whether a box holds it is what ``BoundingBox/contains(_:)`` says, to
/// the last bit.
package struct BoxTable: Sendable {
    private struct Square: Hashable {
        var level: Int8
        var row: Int32
        var column: Int32
    }

    private static let finestLevel = 16
    /// In the place of a column: all of them.
    private static let band: Int32 = -1

    private var squares: [Square: [Int: BoundingBox]] = [:]
    /// By level.
    private var counts = [Int](repeating: 0, count: finestLevel + 1)

    package init() {}

    /// How many boxes there are.
    package var count: Int { counts.reduce(0, +) }

    /// Adds a box under a number that no other one has.
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

    /// The numbers of the boxes that hold a point, each once, in any order.
    package func numbers(at point: Coordinate) -> [Int] {
        var found: [Int] = []
        forEach(around: point) { number, box in
            if box.contains(point) { found.append(number) }
        }
        return found
    }

    /// Calls `body` with each box of the squares and bands that a point is in.
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

    /// Degrees.
    private static func side(_ level: Int) -> Double { 360 / Double(1 << level) }

    // What is rounded here is rounded alike for a box's ends and a point between them, and so never parts them.
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
