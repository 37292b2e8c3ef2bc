#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A point on the Earth that is always valid, in WGS-84 degrees.
///
/// Each point has one form: no negative zero, longitude 180 and not −180, longitude 0 at the poles.
package struct Coordinate: Hashable, Sendable {
    /// Degrees north of the equator, −90 … 90.
    package let latitude: Double
    /// Degrees east of Greenwich, above −180 and up to 180.
    package let longitude: Double

    /// Nil where a number is not finite or out of −90 … 90 and −180 … 180: never clamped, never wrapped.
    package init?(latitude: Double, longitude: Double) {
        guard (-90.0...90.0).contains(latitude), (-180.0...180.0).contains(longitude) else { return nil }
        self.init(valid: latitude, longitude)
    }

    /// The same point in its one form.
    private init(valid latitude: Double, _ longitude: Double) {
        // Adding zero turns −0 into 0 and leaves every other number as it is.
        self.latitude = latitude + 0
        if abs(latitude) == 90 {
            self.longitude = 0
        } else {
            self.longitude = longitude == -180 ? 180 : longitude + 0
        }
    }

    /// The centre of the cell, about `meters` high and wide, that the point lies in.
    ///
    /// Rounding hides where in its cell a room is; rounding a rounded point gives the same point. The Earth is cut
    /// into bands of latitude of equal height, each band into cells of equal width, so a cell's sides differ a little
    /// from `meters` where these do not divide the globe. Sizes under a millimetre, 0 among them, turn rounding off.
    package func rounded(toCellsOf meters: Double) -> Coordinate {
        guard meters >= 0.001 else { return self }
        let bands = max(1, (180 * Self.metersPerDegree / meters).rounded())
        let band = Self.cell(of: latitude + 90, outOf: bands, across: 180)
        let latitude = (band + 0.5) * 180 / bands - 90
        let cells = max(1, (360 * Self.metersPerDegree * cos(latitude * .pi / 180) / meters).rounded())
        let cell = Self.cell(of: longitude + 180, outOf: cells, across: 360)
        return Coordinate(valid: latitude, (cell + 0.5) * 360 / cells - 180)
    }

    /// The index of the cell at `distance` from the start of `whole` degrees that are cut into `count` cells.
    private static func cell(of distance: Double, outOf count: Double, across whole: Double) -> Double {
        min(count - 1, (distance / whole * count).rounded(.down))
    }

    /// Metres of a degree of latitude on the sphere of ``Earth/radius``: π × 6,371,008.8 / 180.
    ///
    /// Stored locations are centres of cells made with this number, digit for digit: with another one they would be
    /// rounded to other cells.
    private static let metersPerDegree = 111_195.08
}
