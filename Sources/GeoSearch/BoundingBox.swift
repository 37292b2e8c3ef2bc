#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A range of latitudes and one or two ranges of longitudes that contain every point within a distance of a centre.
///
/// It is a coarse test by two comparisons, or by an index on latitude; ``greatCircleDistance(from:to:)`` is the exact
/// one.
package struct BoundingBox: Equatable, Sendable {
    /// Degrees north.
    package let latitudes: ClosedRange<Double>
    /// Degrees east, within −180 … 180: two ranges if the circle crosses the antimeridian, which is the end of the
    /// first and the start of the second.
    package let longitudes: [ClosedRange<Double>]

    /// Makes the box of all points whose great-circle distance from `center` is at most `radius` metres.
    ///
    /// With r = radius / R the latitudes are φ ± r. If a pole is among them, the box contains it and all longitudes.
    /// Otherwise the circle's easternmost point is at Δλ = asin(sin r / cos φ) (J. P. Snyder, Map Projections, USGS
    /// 1395, §5), written as atan2(sin r, √(cos(φ + r) cos(φ − r))), which stays exact if the circle nearly reaches the
    /// pole. From a quarter of the circumference on, the box is the whole Earth.
    ///
    /// r is widened by 2 × 10⁻¹¹, 0.13 mm on the ground, to cover rounding errors: below a quarter of the circumference
    /// the error of a distance is less than 2 × 10⁻¹⁴ radians and that of the angles here less than 4 × 10⁻¹², because
    /// circles that reach to within 10⁻⁹ of a pole count as containing it. Widening r widens Δλ by at least as much.
    package init(around center: Coordinate, radius: Double) {
        precondition(radius >= 0, "a radius of \(radius) m")
        guard radius < .pi / 2 * Earth.radius else {
            latitudes = -90...90
            longitudes = [-180...180]
            return
        }
        let r = radius / Earth.radius + 2e-11
        let degrees = r * (180 / .pi)
        let south = center.latitude - degrees
        let north = center.latitude + degrees
        latitudes = max(-90, south)...min(90, north)
        let phi = center.latitude * (.pi / 180)
        guard abs(phi) + r < .pi / 2 - 1e-9 else {
            longitudes = [-180...180]
            return
        }
        let width = atan2(sin(r), (cos(phi + r) * cos(phi - r)).squareRoot()) * (180 / .pi)
        let west = center.longitude - width
        let east = center.longitude + width
        // A box that ends at −180 contains the antimeridian, whose longitude is 180.
        if west <= -180 {
            longitudes = [west + 360...180, -180...east]
        } else if east > 180 {
            longitudes = [west...180, -180...east - 360]
        } else {
            longitudes = [west...east]
        }
    }

    /// Whether a point is in the box.
    package func contains(_ point: Coordinate) -> Bool {
        latitudes.contains(point.latitude) && longitudes.contains { $0.contains(point.longitude) }
    }
}
