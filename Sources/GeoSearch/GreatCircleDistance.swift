#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The sphere on which distances are measured.
package enum Earth {
    /// Its radius in metres.
    ///
    /// The mean radius (2a + b) / 3 of the WGS-84 ellipsoid (a = 6,378,137.0 m, b = 6,356,752.3 m; H. Moritz, Geodetic
    /// Reference System 1980). A distance on this sphere differs from the one on the ellipsoid by at most 0.56 %.
    package static let radius = 6_371_008.8
}

/// The great-circle distance between two points in metres, by the Haversine formula on the sphere of ``Earth/radius``.
///
/// With φ latitude and λ longitude, a = sin²(Δφ / 2) + cos φ₁ cos φ₂ sin²(Δλ / 2) and d = 2 R asin √a
/// (R. W. Sinnott, Virtues of the Haversine, Sky and Telescope 68, 1984). Rounding can carry `a` above 1 between
/// antipodes; it is clamped.
///
/// Both orders of the points give the same number, and the distance of a point from itself is 0. The error of √a, half
/// of the chord, is less than 2⁻⁴⁹ of itself plus 2⁻⁴⁹. The error of distances below 10,000 km is therefore less than
/// 0.1 µm; beyond, it grows with 1 / cos(d / 2R): at most 1 µm to 600 km from the antipode, 1 mm to 600 m, 1.1 m at the
/// antipode itself.
package func greatCircleDistance(from start: Coordinate, to end: Coordinate) -> Double {
    GreatCircleDistances(from: start).to(end)
}

/// Computes distances from one point to many, equal to those of ``greatCircleDistance(from:to:)``.
struct GreatCircleDistances {
    private let start: Coordinate
    private let cosine: Double

    init(from start: Coordinate) {
        self.start = start
        cosine = cos(start.latitude * (.pi / 180))
    }

    func to(_ end: Coordinate) -> Double {
        let south = sin((end.latitude - start.latitude) * (.pi / 360))
        let east = sin((end.longitude - start.longitude) * (.pi / 360))
        let a = south * south + cosine * cos(end.latitude * (.pi / 180)) * (east * east)
        return 2 * Earth.radius * asin(min(1, a.squareRoot()))
    }
}
