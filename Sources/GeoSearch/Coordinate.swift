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

    /// The same point in its one form; the numbers are finite and in range.
    init(valid latitude: Double, _ longitude: Double) {
        // Adding zero turns −0 into 0 and leaves every other number as it is.
        self.latitude = latitude + 0
        if abs(latitude) == 90 {
            self.longitude = 0
        } else {
            self.longitude = longitude == -180 ? 180 : longitude + 0
        }
    }
}
