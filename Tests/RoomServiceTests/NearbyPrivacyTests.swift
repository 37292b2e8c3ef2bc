import Foundation
import GeoSearch
import RandomTestSupport
import RoomDomain
import RoomService
import RoomWire
import Testing

/// Repeated and exact searches reveal only the cell of a room's true location.
@Suite struct NearbyPrivacyTests {
    /// True locations: ordinary ones, and ones whose cells are unusual.
    private static let truths = [
        (52.520_012_3, 13.405_045_6), (0.000_4, -0.000_3), (-33.861, 151.209_9), (65.7, 179.999_9), (-16.8, -179.999_9),
        (89.999_6, 77), (-89.999_95, -120), (90, 0), (-90, 0),
    ].map { place($0.0, $0.1) }

    /// Each attack finds the middle of the cell, to a millimetre, wherever in the cell the room is.
    @Test(arguments: truths)
    func `every attack finds the cell and nothing more exact`(truth: Coordinate) async throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        try await withNearby { node in
            let cell = node.host.settings.locationPrecisionMeters
            let centre = truth.rounded(toCellsOf: cell).coordinate
            // The points, of many in the cell, that are farthest from its centre.
            let others = (0..<200).map { _ in
                Vector(centre).moved(
                    east: .random(in: -cell...cell, using: &random), north: .random(in: -cell...cell, using: &random))
            }.map(\.coordinate).filter { $0.rounded(toCellsOf: cell).coordinate == centre }
                .sorted { greatCircleDistance(from: centre, to: $0) > greatCircleDistance(from: centre, to: $1) }
            let places = [truth] + others.prefix(3)
            try #require(places.count == 4)
            #expect(greatCircleDistance(from: centre, to: places[1]) > cell * 0.45)

            var rooms: [RoomID] = []
            for place in places { rooms.append(try await node.makeRoom(at: place).room) }
            for attack in try await Attack.all(on: node) {
                for (room, place) in zip(rooms, places) {
                    let guess = try await attack.guess(room)
                    #expect(guess.distance(to: Vector(centre)) < 0.001, "\(attack.name), seed \(seed)")
                    let missed = greatCircleDistance(from: guess.coordinate, to: place)
                    #expect(abs(missed - greatCircleDistance(from: centre, to: place)) < 0.001)
                }
            }
            // Every search gives the same answer for both.
            for _ in 0..<100 {
                let near = Vector(centre).moved(
                    east: .random(in: -200...200, using: &random), north: .random(in: -200...200, using: &random))
                let anywhere = place(.random(in: -90...90, using: &random), .random(in: -180...180, using: &random))
                let radius = random.pick([1, 10, 50, 100, 1_000, 20_037_508], or: 1.0)
                let origin = random.once(in: 4) ? anywhere : near.coordinate
                let query = NearbyQuery(origin: origin, radiusMeters: radius, limit: 200)
                let found = try await node.host.nearby.search(query).filter { rooms.contains($0.id) }
                #expect(found.isEmpty || found.count == rooms.count)
                #expect(Set(found.map(\.distanceMeters)).count <= 1 && Set(found.map(\.location)).count <= 1)
            }
        }
    }

    /// This shows that the cells stop the attacks: without them, the attacks work.
    @Test(arguments: truths)
    func `without rounding every attack finds the rooms`(truth: Coordinate) async throws {
        try await withNearby(settings: { $0.locationPrecisionMeters = 0 }) { node in
            let (room, _) = try await node.makeRoom(at: truth)
            for attack in try await Attack.all(on: node) {
                let guess = try await attack.guess(room)
                #expect(guess.distance(to: Vector(truth)) < 0.001, "\(attack.name)")
            }
        }
    }

    @Test func `a move within the cell is not visible`() async throws {
        try await withNearby { node in
            let cell = node.host.settings.locationPrecisionMeters
            let truth = Self.truths[0]
            let centre = truth.rounded(toCellsOf: cell).coordinate
            let corner = Vector(centre).moved(east: cell * 0.4, north: cell * 0.4).coordinate
            let (room, owner) = try await node.makeRoom(at: truth)
            #expect(await node.host.nearby.refresh())
            func watcher(_ origin: Coordinate) -> Watcher {
                Watcher(of: NearbyQuery(origin: origin, radiusMeters: 1), on: node)
            }
            // Circles of one metre around the published, the true, and the next true location.
            let (said, true1, true2) = (watcher(centre), watcher(truth), watcher(corner))
            #expect(said.rooms.count == 1 && true1.rooms.isEmpty && true2.rooms.isEmpty)
            let before = try await node.host.registry.view(room, for: owner.session).seq
            try await node.update(room, by: owner) { $0.location = corner }
            try await node.update(room, by: owner) { $0.location = truth }
            #expect(try await node.host.registry.view(room, for: owner.session).seq == before)
            try await node.update(room, by: owner) { $0.name = "Cellar" }
            try await said.until("the new name") { $0.map(\.name) == ["Cellar"] }
            #expect(said.messages == 1 && true1.messages == 0 && true2.messages == 0)
            // A move out of the cell is visible to everybody.
            try await node.update(room, by: owner) {
                $0.location = Vector(centre).moved(east: 0, north: cell).coordinate
            }
            try await said.until("that it is gone") { $0.isEmpty }
            for watcher in [said, true1, true2] { watcher.end() }
        }
    }
}

/// An attack that finds a room's location with searches only.
private struct Attack {
    let name: String
    let guess: (RoomID) async throws -> Vector

    /// The origins of the searches: not on one great circle, nor near the wanted point or its antipode.
    private static let corners = [place(-30, 30), place(40, -70), place(20, 140)]
    private static let anywhere = 20_037_508.0

    /// Every attack, using the answers of `node`.
    static func all(on node: Node) async throws -> [Attack] {
        @Sendable func list(_ origin: Coordinate, _ radius: Double) async throws -> [RoomSummary] {
            try await node.host.nearby.search(NearbyQuery(origin: origin, radiusMeters: radius, limit: 200))
        }
        @Sendable func isWithin(_ room: RoomID, _ origin: Coordinate, _ radius: Double) async throws -> Bool {
            try await list(origin, radius).contains { $0.id == room }
        }
        /// The point where the circles around the corners meet.
        @Sendable func point(_ distances: [Double]) -> Vector {
            Vector.solve(corners.map { Vector($0) }, distances.map { cos($0 / Earth.radius) })
        }
        /// The attacker's own rooms, whose locations it looks up like any other's.
        var own: [(room: RoomID, place: Vector)] = []
        for corner in corners {
            let room = try await node.makeRoom(at: corner).room
            let shown = try await list(corner, 1_000).first { $0.id == room }?.location?.coordinate
            own.append((room, Vector(try #require(shown))))
        }
        let probes = own

        let distances = Attack(name: "distances") { room in
            var told: [Double] = []
            for corner in corners {
                let found = try await list(corner, anywhere).first { $0.id == room }
                told.append(try #require(found?.distanceMeters))
            }
            return point(told)
        }
        // Uses only whether the room is listed, from the smallest radius with which it is.
        let radii = Attack(name: "radii") { room in
            var told: [Double] = []
            for corner in corners {
                told.append(try await bisect(from: 1, to: anywhere) { try await !isWithin(room, corner, $0) })
            }
            return point(told)
        }
        // Uses only whether the room is within a metre, from the points where this ends to the west, east, south and
        // north.
        let edges = Attack(name: "edges") { room in
            let start = try await distances.guess(room).moved(east: 0.4, north: -0.3)
            func reach(_ east: Double, _ north: Double) async throws -> Double {
                try await bisect(from: 0, to: 3) { way in
                    try await isWithin(room, start.moved(east: east * way, north: north * way).coordinate, 1)
                }
            }
            let east = (try await reach(1, 0) - reach(-1, 0)) / 2
            return start.moved(east: east, north: (try await reach(0, 1) - reach(0, -1)) / 2)
        }
        // Uses only which of two rooms is listed first, from the points between them where the order changes.
        let order = Attack(name: "order") { room in
            let goal = try await distances.guess(room)
            var (normals, offsets): ([Vector], [Double]) = ([], [])
            for probe in probes {
                func way(_ part: Double) -> Vector { probe.place.between(goal, part) }
                let part = try await bisect(from: 0, to: 1) { part in
                    let listed = try await list(way(part).coordinate, anywhere).map(\.id)
                    let (own, other) = (listed.firstIndex(of: probe.room), listed.firstIndex(of: room))
                    return try #require(own) < #require(other)
                }
                // Equally far from both.
                normals.append(way(part))
                offsets.append(way(part).dot(probe.place))
            }
            return Vector.solve(normals, offsets)
        }
        return [distances, radii, edges, order]
    }

    /// The value at which `holds` changes from true to false, as exactly as numbers allow.
    private static func bisect(
        from low: Double, to high: Double, _ holds: (Double) async throws -> Bool
    ) async throws -> Double {
        var (low, high) = (low, high)
        try #require(try await holds(low))
        try #require(try await !holds(high))
        for _ in 0..<60 {
            let middle = (low + high) / 2
            guard low < middle, middle < high else { break }
            if try await holds(middle) { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}

/// A point of the unit sphere.
private struct Vector {
    var x, y, z: Double

    init(_ x: Double, _ y: Double, _ z: Double) { (self.x, self.y, self.z) = (x, y, z) }

    init(_ point: Coordinate) {
        let (north, east) = (point.latitude * .pi / 180, point.longitude * .pi / 180)
        self.init(cos(north) * cos(east), cos(north) * sin(east), sin(north))
    }

    var coordinate: Coordinate {
        place(atan2(z, (x * x + y * y).squareRoot()) * 180 / .pi, atan2(y, x) * 180 / .pi)
    }

    private var unit: Vector {
        let length = dot(self).squareRoot()
        return Vector(x / length, y / length, z / length)
    }

    func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }

    private func cross(_ other: Vector) -> Vector {
        Vector(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }

    /// The distance in metres, if it is small.
    func distance(to other: Vector) -> Double {
        let (a, b, c) = (x - other.x, y - other.y, z - other.z)
        return Earth.radius * (a * a + b * b + c * c).squareRoot()
    }

    /// The point a few metres away.
    func moved(east: Double, north: Double) -> Vector {
        let right = Vector(-y, x, 0).unit
        let up = cross(right)
        let (e, n) = (east / Earth.radius, north / Earth.radius)
        return Vector(x + e * right.x + n * up.x, y + e * right.y + n * up.y, z + e * right.z + n * up.z).unit
    }

    /// The point at a fraction of the way to another one.
    func between(_ other: Vector, _ part: Double) -> Vector {
        Vector(x + part * (other.x - x), y + part * (other.y - y), z + part * (other.z - z)).unit
    }

    /// The vector whose products with three others are given.
    static func solve(_ normals: [Vector], _ offsets: [Double]) -> Vector {
        let (a, b, c) = (normals[0], normals[1], normals[2])
        let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b))
        let whole = a.dot(bc)
        func part(_ path: KeyPath<Vector, Double>) -> Double {
            (offsets[0] * bc[keyPath: path] + offsets[1] * ca[keyPath: path] + offsets[2] * ab[keyPath: path]) / whole
        }
        return Vector(part(\.x), part(\.y), part(\.z))
    }
}
