import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

@Suite struct PoolOrderTests {
    /// Titles with the numbers under which they were added, in the protocol's order.
    ///
    /// Made with another implementation of Unicode, Python's: `sorted` by `unicodedata.normalize("NFC", title)`, each
    /// character's `lower()`, compared by code points, then by number.
    static let golden: [(number: Int, title: String)] = [
        (42, " "),
        (43, "(Intro)"),
        (39, "1 one"),
        (40, "10 ten"),
        (41, "2 two"),
        (44, "_under"),
        (1, "alpha"),
        (2, "Alpha"),
        (3, "ALPHA 2"),
        (4, "beta"),
        (9, "eclair"),
        (54, "ffff"),
        (47, "fine"),
        (56, "H\u{331} below"),
        (15, "istanbul"),
        (16, "ISTANBUL"),
        (14, "\u{130}stanbul"),
        (18, "I\u{307}stanbul 2"),
        (19, "i\u{307}stanbul 3"),
        (30, "K kelvin"),
        (31, "k kelvin 2"),
        (59, "q\u{323}\u{307}"),
        (60, "q\u{307}\u{323}"),
        (21, "STRASSE"),
        (23, "strasse 2"),
        (20, "Stra\u{DF}e"),
        (22, "STRA\u{1E9E}E"),
        (10, "Zebra"),
        (11, "zebra 2"),
        (45, "~tilde"),
        (12, "\u{C4}pfel"),
        (13, "A\u{308}pfel 2"),
        (33, "\u{E5}"),
        (32, "\u{C5} angstrom"),
        (34, "\u{C5} ring"),
        (5, "\u{C9}clair"),
        (7, "e\u{301}clair"),
        (6, "E\u{301}clair 2"),
        (8, "\u{E9}clair 3"),
        (63, "\u{D1}andu"),
        (64, "\u{F1}andu"),
        (65, "N\u{303}andu"),
        (61, "\u{110}or\u{111}e"),
        (62, "\u{111}or\u{111}e"),
        (17, "\u{131}stanbul"),
        (48, "\u{1C5} dz"),
        (49, "\u{1C6} dz"),
        (25, "\u{3C3}\u{3BF}\u{3C6}\u{3BF}\u{3C2}"),
        (24, "\u{3A3}\u{39F}\u{3A6}\u{39F}\u{3A3}"),
        (26, "\u{3C3}\u{3BF}\u{3C6}\u{3BF}\u{3C3}"),
        (27, "\u{3A3}\u{3BF}\u{3C6}\u{3CC}\u{3C2}"),
        (29, "\u{3A9} ohm"),
        (28, "\u{3A9}mega"),
        (57, "h\u{331} below"),
        (58, "\u{1E96} below"),
        (36, "\u{4E1C}\u{4EAC}"),
        (35, "\u{6771}\u{4EAC}"),
        (37, "\u{D55C}\u{AD6D}"),
        (38, "\u{D55C}\u{AD6D} 2"),
        (46, "\u{FB01}ne"),
        (55, "\u{FFEE} half"),
        (51, "\u{10400} deseret"),
        (52, "\u{10428} deseret"),
        (50, "\u{1D400} bold"),
        (53, "\u{1F600}"),
    ]

    /// Adds the golden titles in the order of their numbers, in batches of `size`.
    private func room(inBatchesOf size: Int) -> RoomState {
        var room = RoomScenario.given(RoomScenario.founded).room
        let titles = Self.golden.sorted { $0.number < $1.number }
        for start in stride(from: 0, to: titles.count, by: size) {
            let batch = titles[start..<min(start + size, titles.count)].map {
                NumberedTrack(id: TrackID(rawValue: $0.number), info: .titled($0.title))
            }
            let event = RoomEvent.tracksAdded(tracks: batch, by: 1)
            room.evolve(RecordedEvent(seq: room.seq + 1, at: room.lastEventAt, event: event))
        }
        return room
    }

    @Test(arguments: [1, 3, 16, 17, 40, 1_000]) func `a pool is in the protocol's order, however it was filled`(
        size: Int
    ) {
        #expect(room(inBatchesOf: size).poolOrder.map(\.rawValue) == Self.golden.map(\.number))
    }

    @Test func `removing keeps the order of the rest`() {
        var room = room(inBatchesOf: 20)
        let removed = room.poolOrder.enumerated().filter { $0.offset.isMultiple(of: 3) }.map(\.element)
        let expected = room.poolOrder.enumerated().filter { !$0.offset.isMultiple(of: 3) }.map(\.element)
        room.evolve(
            RecordedEvent(seq: room.seq + 1, at: room.lastEventAt, event: .tracksRemoved(tracks: removed, by: 1)))
        #expect(room.poolOrder == expected)
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
    }

    @Test func `a room restored without sort keys goes on in order`() {
        let room = room(inBatchesOf: 20)
        var restored = RoomState(id: room.id)
        restored.seq = room.seq
        restored.lastEventAt = room.lastEventAt
        restored.members = room.members
        restored.memberOfSession = room.memberOfSession
        restored.nextMember = room.nextMember
        restored.tracks = room.tracks
        restored.poolOrder = room.poolOrder
        restored.rebuildPoolValues()
        restored.nextTrack = 100
        let added = RoomEvent.tracksAdded(tracks: [NumberedTrack(id: 100, info: .titled("Mid"))], by: 1)
        restored.evolve(RecordedEvent(seq: room.seq + 1, at: room.lastEventAt, event: added))
        #expect(restored.poolOrder.count == room.poolOrder.count + 1)
        #expect(restored.invariantViolations(atCommandBoundary: true).isEmpty)
    }

    @Test func `sorting follows random pools`() {
        let letters = Array("abcxyzABCXYZéÉßİıΣς 12") + ["e\u{301}", "I\u{307}", "A\u{30A}"]
        for seed in TestSeed.fixed(0..<20) {
            print("random pools, seed \(seed)")
            var random = SeededRandom(seed: seed)
            var room = RoomScenario.given(RoomScenario.founded).room
            for _ in 0..<20 {
                let event: RoomEvent
                if random.once(in: 4), !room.poolOrder.isEmpty {
                    event = .tracksRemoved(tracks: room.poolOrder.filter { _ in random.once(in: 3) }, by: 1)
                } else {
                    let first = room.nextTrack
                    let tracks = (0..<Int.random(in: 1...40, using: &random)).map { offset in
                        let title = String((0..<4).map { _ in random.pick(letters, or: "a") })
                        return NumberedTrack(id: TrackID(rawValue: first + offset), info: .titled(title))
                    }
                    event = .tracksAdded(tracks: tracks, by: 1)
                }
                room.evolve(RecordedEvent(seq: room.seq + 1, at: room.lastEventAt, event: event))
                #expect(room.invariantViolations(atCommandBoundary: true).isEmpty, "seed \(seed)")
            }
        }
    }
}
