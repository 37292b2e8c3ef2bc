import GeoTestSupport
import RandomTestSupport
import Testing

@testable import GeoSearch

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite struct LatticePointTests {
    @Test func `a chord on the lattice differs from the true one by at most the square root of three`() throws {
        var random = SeededRandom.fresh()
        for number in 0..<50_000 {
            let scatter = Scatter.allCases[number % Scatter.allCases.count]
            let here = scatter.point(using: &random)
            let there = random.once(in: 2) ? scatter.point(using: &random) : Scatter.uniform.point(using: &random)
            let distance = greatCircleDistance(from: here, to: there)
            // Near the antipode the distance does not determine the chord precisely enough.
            guard distance < 19_900_000 else { continue }
            let chord = Double(LatticePoint(here).squaredChord(to: LatticePoint(there))).squareRoot()
            #expect(abs(chord - 2 * sin(distance / 2 / Earth.radius) * LatticePoint.scale) <= 1.732_1)
        }
    }

    @Test func `the farthest points of the lattice do not overflow`() throws {
        let (north, south) = (LatticePoint(try at(90, 0)), LatticePoint(try at(-90, 0)))
        #expect(north.squaredChord(to: south) == 4 * UInt64(LatticePoint.scale) * UInt64(LatticePoint.scale))
        #expect(SquaredChord.bound(ofRadius: .infinity) > north.squaredChord(to: south))
        #expect(LatticeBox().squaredChord(from: north) > 0)
    }
}
