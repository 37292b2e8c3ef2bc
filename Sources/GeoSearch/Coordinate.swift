/// A valid point on the Earth, in WGS-84 degrees.
///
/// Each point has exactly one representation: no negative zero, longitude 180 and not −180, longitude 0 at the poles.
package struct Coordinate: Hashable, Sendable {
    /// Degrees north of the equator, −90 … 90.
    package let latitude: Double
    /// Degrees east of Greenwich, above −180 and up to 180.
    package let longitude: Double

    /// Nil if a number is not finite or outside −90 … 90 and −180 … 180: never clamped, never wrapped.
    package init?(latitude: Double, longitude: Double) {
        guard (-90.0...90.0).contains(latitude), (-180.0...180.0).contains(longitude) else { return nil }
        self.init(valid: latitude, longitude)
    }

    /// Makes the point's only representation from numbers that are finite and in range.
    init(valid latitude: Double, _ longitude: Double) {
        // Adding zero turns −0 into 0 and leaves every other number unchanged.
        self.latitude = latitude + 0
        if abs(latitude) == 90 {
            self.longitude = 0
        } else {
            self.longitude = longitude == -180 ? 180 : longitude + 0
        }
    }
}
