#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A room's location: the centre of a cell, which hides where in the cell the room is.
///
/// ``Coordinate/rounded(toCellsOf:)`` makes it from a client's location; readers of the log make it from stored values.
/// Events, states and directory entries hold this type and no ``Coordinate``. `Tests/ArchitectureTests` enforce that only
/// the readers of stored rows make one without rounding.
package struct RoundedLocation: Hashable, Sendable {
    /// The cell's centre.
    package let coordinate: Coordinate

    fileprivate init(centre coordinate: Coordinate) { self.coordinate = coordinate }

    /// Takes a location from the log: it was rounded before it was stored, whatever the size of cells was.
    package init(stored coordinate: Coordinate) { self.coordinate = coordinate }

    /// Degrees north of the equator, −90 … 90.
    package var latitude: Double { coordinate.latitude }
    /// Degrees east of Greenwich, above −180 and up to 180.
    package var longitude: Double { coordinate.longitude }

    /// The default size of cells, in metres.
    package static let usualCell = 100.0
}

extension Coordinate {
    /// Returns the centre of the cell, about `meters` high and wide, that contains the point.
    ///
    /// Rounding hides where in its cell a room is; rounding a rounded point gives the same point. The Earth is divided
    /// into bands of latitude of equal height, and each band into cells of equal width, so a cell's sides differ a
    /// little from `meters` if these do not divide the globe evenly. Sizes under a millimetre, including 0, turn
    /// rounding off.
    package func rounded(toCellsOf meters: Double) -> RoundedLocation {
        guard meters >= 0.001 else { return RoundedLocation(centre: self) }
        let bands = max(1, (180 * Self.metersPerDegree / meters).rounded())
        let band = Self.cell(of: latitude + 90, outOf: bands, across: 180)
        let latitude = (band + 0.5) * 180 / bands - 90
        let cells = max(1, (360 * Self.metersPerDegree * cos(latitude * .pi / 180) / meters).rounded())
        let cell = Self.cell(of: longitude + 180, outOf: cells, across: 360)
        return RoundedLocation(centre: Coordinate(valid: latitude, (cell + 0.5) * 360 / cells - 180))
    }

    /// Returns the index of the cell at `distance` from the start of `whole` degrees that are divided into `count`
    /// cells.
    private static func cell(of distance: Double, outOf count: Double, across whole: Double) -> Double {
        min(count - 1, (distance / whole * count).rounded(.down))
    }

    /// The length of a degree of latitude in metres, on the sphere of ``Earth/radius``: π × 6,371,008.8 / 180.
    ///
    /// Stored locations are centres of cells made with this number, digit for digit: a different number would round
    /// them to other cells.
    private static let metersPerDegree = 111_195.08
}
