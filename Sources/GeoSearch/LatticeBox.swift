/// A box of the lattice around some points.
struct LatticeBox {
    private var least = LatticePoint(corner: 1 << 30)
    private var most = LatticePoint(corner: -1 << 30)

    /// A box around nothing.
    init() {}

    /// Whether it is around nothing.
    var isEmpty: Bool { least.x > most.x }

    /// The axis on which it is longest; nil where it is a point.
    var longestAxis: LatticePoint.Axis? {
        let (dx, dy, dz) = (most.x &- least.x, most.y &- least.y, most.z &- least.z)
        if dx == 0, dy == 0, dz == 0 { return nil }
        return dx >= dy && dx >= dz ? .x : dy >= dz ? .y : .z
    }

    /// Widens it to hold a point.
    mutating func include(_ point: LatticePoint) {
        for axis in LatticePoint.Axis.allCases {
            if point[axis] < least[axis] { least[axis] = point[axis] }
            if point[axis] > most[axis] { most[axis] = point[axis] }
        }
    }

    /// Widens it to hold another box.
    mutating func include(_ other: LatticeBox) {
        include(other.least)
        include(other.most)
    }

    /// The square of the chord from a point to the nearest one that the box can hold: at most 3 × 2⁶².
    func squaredChord(from point: LatticePoint) -> UInt64 {
        let dx = Self.distance(point.x, least.x, most.x)
        let dy = Self.distance(point.y, least.y, most.y)
        let dz = Self.distance(point.z, least.z, most.z)
        return dx &* dx &+ dy &* dy &+ dz &* dz
    }

    /// How far a coordinate is from a range.
    private static func distance(_ coordinate: Int32, _ least: Int32, _ most: Int32) -> UInt64 {
        UInt64(max(0, max(Int64(least) - Int64(coordinate), Int64(coordinate) - Int64(most))))
    }
}
