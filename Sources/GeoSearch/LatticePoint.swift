#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A point of the unit sphere in integer coordinates, so that points are compared without trigonometry and rounding.
///
/// The chord of two points, the straight line between them through the Earth, grows with their great-circle distance,
/// and the square of its length takes three multiplications. In integers they are exact. Precision is lost only once,
/// when a point is put on the lattice: each axis moves by at most half a unit (3 mm), a point by at most √3 / 2, a
/// chord by at most √3.
struct LatticePoint: Equatable {
    var x: Int32
    var y: Int32
    var z: Int32

    /// Units in the sphere's radius: the largest number with which the difference of two coordinates fits into 32 bits.
    static let scale = 1_073_741_823.0

    init(_ point: Coordinate) {
        let latitude = point.latitude * (.pi / 180)
        let longitude = point.longitude * (.pi / 180)
        let fromAxis = cos(latitude) * Self.scale
        x = Int32((fromAxis * cos(longitude)).rounded())
        y = Int32((fromAxis * sin(longitude)).rounded())
        z = Int32((sin(latitude) * Self.scale).rounded())
    }

    init(x: Int32, y: Int32, z: Int32) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The lattice's corner with the same coordinate on all axes.
    init(corner coordinate: Int32) { self.init(x: coordinate, y: coordinate, z: coordinate) }

    subscript(axis: Axis) -> Int32 {
        get {
            switch axis {
            case .x: x
            case .y: y
            case .z: z
            }
        }
        set {
            switch axis {
            case .x: x = newValue
            case .y: y = newValue
            case .z: z = newValue
            }
        }
    }

    /// The square of the chord to another point: less than 2⁶³.
    func squaredChord(to other: LatticePoint) -> UInt64 {
        let dx = Int64(x &- other.x)
        let dy = Int64(y &- other.y)
        let dz = Int64(z &- other.z)
        return UInt64(bitPattern: dx &* dx &+ dy &* dy &+ dz &* dz)
    }

    /// An axis of the lattice.
    enum Axis: UInt8, CaseIterable { case x, y, z }
}

/// Squares of chords on the lattice, and the bounds that they give for distances.
///
/// A chord on the lattice differs from the true one by at most √3 units. The distance that
/// ``greatCircleDistance(from:to:)`` computes belongs to a chord whose error is less than 10⁻⁵ units. Two points
/// therefore have the same order by distance as on the lattice if their chords differ by more than 2 √3 + 2 × 10⁻⁵ =
/// 3.4642 units. The `margin` covers that, and the rounding of squares to doubles, which is less than 10⁻⁵.
enum SquaredChord {
    /// In units; 24 mm on the ground.
    private static let margin = 4.0

    /// The squared chord that no point within `radius` metres exceeds on the lattice.
    static func bound(ofRadius radius: Double) -> UInt64 {
        let angle = min(radius / Earth.radius, .pi)
        return square(2 * sin(angle / 2) * LatticePoint.scale + margin)
    }

    /// The squared chord beyond which points are certainly farther than any point at `squared`.
    static func upperBound(of squared: UInt64) -> UInt64 {
        square(Double(squared).squareRoot() + margin)
    }

    /// The squared chord up to which points are certainly nearer than any point at `squared`; nil if there is none.
    static func lowerBound(of squared: UInt64) -> UInt64? {
        let chord = Double(squared).squareRoot() - margin
        return chord < 0 ? nil : square(chord)
    }

    private static func square(_ chord: Double) -> UInt64 { UInt64(chord * chord) }
}
