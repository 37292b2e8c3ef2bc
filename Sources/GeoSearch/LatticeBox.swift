/// The bounding box of points on the lattice.
struct LatticeBox {
    private var least = LatticePoint(corner: 1 << 30)
    private var most = LatticePoint(corner: -1 << 30)

    /// Makes an empty box.
    init() {}

    /// Whether the box contains no point.
    var isEmpty: Bool { least.x > most.x }

    /// The axis on which it is longest; nil if it is a single point.
    var longestAxis: LatticePoint.Axis? {
        let (dx, dy, dz) = (most.x &- least.x, most.y &- least.y, most.z &- least.z)
        if dx == 0, dy == 0, dz == 0 { return nil }
        return dx >= dy && dx >= dz ? .x : dy >= dz ? .y : .z
    }

    /// Widens the box to contain a point.
    mutating func include(_ point: LatticePoint) {
        for axis in LatticePoint.Axis.allCases {
            if point[axis] < least[axis] { least[axis] = point[axis] }
            if point[axis] > most[axis] { most[axis] = point[axis] }
        }
    }

    /// Widens the box to contain another box.
    mutating func include(_ other: LatticeBox) {
        include(other.least)
        include(other.most)
    }

    /// The square of the chord from a point to the nearest position in the box: at most 3 × 2⁶².
    func squaredChord(from point: LatticePoint) -> UInt64 {
        let dx = Self.distance(point.x, least.x, most.x)
        let dy = Self.distance(point.y, least.y, most.y)
        let dz = Self.distance(point.z, least.z, most.z)
        return dx &* dx &+ dy &* dy &+ dz &* dz
    }

    /// The distance of a coordinate from a range.
    private static func distance(_ coordinate: Int32, _ least: Int32, _ most: Int32) -> UInt64 {
        UInt64(max(0, max(Int64(least) - Int64(coordinate), Int64(coordinate) - Int64(most))))
    }
}
