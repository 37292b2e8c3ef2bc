package import GeoSearch
package import RandomTestSupport

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Distributions of random points on the Earth: difficult ones for correctness and for speed.
package enum Scatter: CaseIterable, Sendable {
    /// Uniform on the sphere.
    case uniform
    /// Around 20 centres, most of them around the first ones, within some 10 km.
    case clustered
    /// On both sides of the antimeridian and on it, most within a kilometre.
    case antimeridian
    /// Within some degrees of the pole and on it, most within a kilometre.
    case northPole
    /// The same in the south.
    case southPole
    /// On a few cells of 5 km, so that many points are equal.
    case rounded

    /// A random point.
    package func point(using random: inout SeededRandom) -> Coordinate {
        switch self {
        case .uniform: return Self.uniform(using: &random)
        case .clustered:
            let centre = Int(20 * pow(Double.random(in: 0..<1, using: &random), 2))
            var place = SeededRandom(seed: UInt64(centre) &+ 1)
            return Self.near(Self.uniform(using: &place), within: 10_000, using: &random)
        case .antimeridian:
            let longitude = Self.small(times: 5, using: &random)
            return Self.valid(
                Self.uniform(using: &random).latitude, longitude > 0 ? -180 + longitude : 180 + longitude)
        case .northPole, .southPole:
            let latitude = 90 - abs(Self.small(times: 3, using: &random))
            return Self.valid(self == .northPole ? latitude : -latitude, .random(in: -180...180, using: &random))
        case .rounded:
            return Self.near(Self.valid(48.2, 16.4), within: 20_000, using: &random).rounded(toCellsOf: 5_000)
                .coordinate
        }
    }

    /// A point at most `meters` away from another, or exactly there.
    package static func near(
        _ centre: Coordinate, within meters: Double, using random: inout SeededRandom
    ) -> Coordinate {
        let degrees = meters / 111_195
        let north = small(times: degrees, using: &random)
        let east = small(times: degrees, using: &random) / max(1e-3, cos(centre.latitude * .pi / 180))
        let longitude = (centre.longitude + east).remainder(dividingBy: 360)
        return valid(min(90, max(-90, centre.latitude + north)), longitude)
    }

    private static func uniform(using random: inout SeededRandom) -> Coordinate {
        valid(asin(.random(in: -1...1, using: &random)) * 180 / .pi, .random(in: -180...180, using: &random))
    }

    /// A number of either sign: mostly much smaller than `times`, sometimes zero.
    private static func small(times: Double, using random: inout SeededRandom) -> Double {
        if random.once(in: 50) { return 0 }
        let size = times * pow(10, .random(in: -6...0, using: &random))
        return random.once(in: 2) ? -size : size
    }

    private static func valid(_ latitude: Double, _ longitude: Double) -> Coordinate {
        guard let point = Coordinate(latitude: latitude, longitude: longitude) else {
            preconditionFailure("\(latitude), \(longitude) is no point")
        }
        return point
    }
}
