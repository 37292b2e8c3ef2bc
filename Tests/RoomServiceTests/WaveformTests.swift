import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomService
import RoomTestSupport
import SimulatedTime
import Testing

/// Waveforms from the command to the row, and back.
@Suite struct WaveformTests {
    private static let day: Int64 = 24 * 3_600 * 1_000
    private let one = Waveform.samples[0]
    private let two = Waveform.samples[1]

    private func set(_ track: Int, _ waveform: Waveform) -> RoomCommand {
        .setWaveform(track: TrackID(rawValue: track), waveform: waveform)
    }

    private func data(
        of waveform: Waveform, in room: RoomID, on node: Node, for person: Person = .guest(99)
    ) async throws -> [UInt8]? {
        try await node.host.waveforms.data(of: waveform.name, in: room, for: person.session)
    }

    @Test func `a waveform is there when its command is acknowledged, on every server`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 2)
            let outcome = try await nodes[0].tell(set(1, one), in: room, by: owner, key: "k")
            #expect(outcome == .acknowledged(seq: 4, keyed: 1, result: .waveform(one.name)))
            for node in nodes {
                #expect(try await data(of: one, in: room, on: node) == one.data)
                #expect(try await data(of: two, in: room, on: node) == nil)
            }
            // A retry writes nothing, and neither does the same waveform again.
            #expect(try await nodes[1].tell(set(1, one), in: room, by: owner, key: "k") == outcome)
            #expect(try await nodes[1].tell(set(1, one), in: room, by: owner) == outcome)
            #expect(try await nodes[1].tell(set(2, one), in: room, by: owner, key: "k") == .keyReused)
            #expect(try await nodes[1].tell(set(1, two), in: room, by: owner, key: "k") == .keyReused)
            #expect(nodes[0].store.head(of: room) == 4)
            try await expectFoldOfLog(of: room, on: nodes)
        }
    }

    @Test func `followers get the name and never the bytes`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            _ = try await node.tell(set(1, one), in: room, by: owner)
            let event = try #require(node.store.event(4, of: room))
            #expect(event.payload.count < 100)
            #expect(String(decoding: try await node.state(of: room), as: UTF8.self).contains("\(one.name)"))
            #expect(try await node.state(of: room).count < 1_000)
        }
    }

    @Test func `an answer that is lost loses no waveform, and an append that fails writes none`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            node.store.next(.append, .losesAnswer)
            #expect(try await node.tell(set(1, one), in: room, by: owner, key: "a") == .failed(.outcomeUnknown))
            let again = try await node.tell(set(1, one), in: room, by: owner, key: "a")
            #expect(again == .acknowledged(seq: 4, keyed: 1, result: .waveform(one.name)))
            #expect(try await data(of: one, in: room, on: node) == one.data)
            node.store.next(.append, .fails(FaultyEventStore.unreachable))
            #expect(try await node.tell(set(1, two), in: room, by: owner, key: "b") == .failed(.unavailable))
            #expect(try await data(of: two, in: room, on: node) == nil)
            node.store.next(.read, .fails(FaultyEventStore.unreachable))
            await #expect(throws: RoomFailure.unavailable) { try await data(of: one, in: room, on: node) }
        }
    }

    @Test func `commands of one append bring all of their waveforms`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 3)
            let gate = Gate()
            node.store.next(.append, .waits(gate))
            let first = node.ask(.rename(name: "A"), in: room, by: owner.actor)
            await node.settle()
            // These wait for the first append, in several parts, and are written together.
            var answers: [Answer] = []
            for (track, waveform) in [(1, one), (2, two), (1, two), (3, one), (3, two), (2, one)] {
                answers.append(node.ask(set(track, waveform), in: room, by: owner.actor))
                await node.settle()
            }
            answers.append(node.ask(.removeTracks([TrackID(rawValue: 2)]), in: room, by: owner.actor))
            gate.open()
            for answer in [first] + answers {
                guard case .acknowledged = try await answer.outcome() else { throw RoomFailure.internalFault }
            }
            // Nobody has the first one any more, and it stays for a day.
            #expect(try await data(of: one, in: room, on: node) == one.data)
            #expect(try await data(of: two, in: room, on: node) == two.data)
            #expect(
                try await node.store.waveforms(of: room) == [
                    one.name: node.store.time(ofLastEventIn: room), two.name: nil,
                ])
        }
    }

    @Test func `two servers that set waveforms at once lose none`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 8)
            let answers = (0..<16).map { turn in
                nodes[turn % 2].ask(
                    set(turn % 8 + 1, Waveform.samples[turn % 6]), in: room, by: owner.actor)
            }
            for answer in answers {
                guard case .acknowledged = try await answer.outcome() else { throw RoomFailure.internalFault }
            }
            let state = try nodes[0].store.room(room)
            let kept = try await nodes[0].store.waveforms(of: room)
            #expect(state.waveformNames == Set(kept.filter { $0.value == nil }.keys))
            for name in state.waveformNames {
                for node in nodes {
                    #expect(try await node.host.waveforms.data(of: name, in: room, for: owner.session) != nil)
                }
            }
        }
    }

    // MARK: Who may look

    @Test func `a banned session gets no waveform, and nobody gets one of another room`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            let (other, _) = try await node.makeRoom(tracks: 1)
            _ = try await node.tell(set(1, one), in: room, by: owner)
            _ = try await node.tell(.join(name: nil), in: room, by: .bob)
            #expect(try await data(of: one, in: room, on: node, for: .bob) == one.data)
            #expect(try await data(of: one, in: other, on: node, for: .bob) == nil)
            _ = try await node.tell(.kick(member: MemberID(rawValue: 2), ban: true, note: nil), in: room, by: owner)
            await #expect(throws: RoomFailure.refused(.banned)) {
                try await data(of: one, in: room, on: node, for: .bob)
            }
            await #expect(throws: RoomFailure.noSuchRoom) {
                try await data(of: one, in: RoomID(UUID()), on: node)
            }
        }
    }

    // MARK: Removal

    @Test func `a waveform that no track has is removed after a day, and one that a track has never`() async throws {
        let clock = ManualClock()
        try await withNodes(2, clock: clock, settings: { $0.comparisonInterval = .milliseconds(1) }) { nodes in
            let store = nodes[0].store
            let (room, owner) = try await nodes[0].makeRoom(tracks: 3)
            for (track, waveform) in [(1, one), (2, one), (3, two)] {
                _ = try await nodes[0].tell(set(track, waveform), in: room, by: owner)
            }
            _ = try await nodes[0].tell(set(3, Waveform.samples[2]), in: room, by: owner)
            _ = try await nodes[1].tell(.removeTracks([TrackID(rawValue: 1)]), in: room, by: owner)
            clock.advance(milliseconds: Self.day)
            var rounds = store.erasures.count { $0 == .removeAttachments }
            try await eventually("some rounds") { store.erasures.count { $0 == .removeAttachments } > rounds + 6 }
            #expect(try await data(of: two, in: room, on: nodes[0]) == two.data)
            clock.advance(milliseconds: 1)
            try await eventually("the removal") { try await data(of: two, in: room, on: nodes[1]) == nil }
            clock.advance(milliseconds: 20 * Self.day)
            rounds = store.erasures.count { $0 == .removeAttachments }
            try await eventually("some rounds") { store.erasures.count { $0 == .removeAttachments } > rounds + 6 }
            #expect(Set(try await store.waveforms(of: room).keys) == [one.name, Waveform.samples[2].name])
            // The track can have it again.
            _ = try await nodes[1].tell(set(3, two), in: room, by: owner)
            #expect(try await data(of: two, in: room, on: nodes[0]) == two.data)
        }
    }

    @Test func `many waveforms are removed in one round`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, settings: { $0.comparisonInterval = .milliseconds(1) }) { node in
            let (room, owner) = try await node.makeRoom(tracks: 110)
            for track in 1...110 {
                let answers = try (0..<10).map { number in
                    var bytes = [UInt8](repeating: 0, count: Waveform.byteCount)
                    (bytes[0], bytes[1]) = (UInt8(track), UInt8(number))
                    let waveform = try #require(Waveform(data: bytes))
                    return node.ask(set(track, waveform), in: room, by: owner.actor)
                }
                for answer in answers { #expect(try await answer.outcome().seq != nil) }
            }
            clock.advance(milliseconds: Self.day + 1)
            try await eventually("the removal") { try await node.store.waveforms(of: room).count == 110 }
            #expect(node.store.erasures.split { $0 != .removeAttachments }.contains { $0.count >= 2 })
        }
    }

    @Test func `a waveform that is set again before it is removed stays`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, settings: { $0.comparisonInterval = .milliseconds(1) }) { node in
            let (room, owner) = try await node.makeRoom(tracks: 2)
            _ = try await node.tell(set(1, one), in: room, by: owner)
            _ = try await node.tell(set(1, two), in: room, by: owner)
            clock.advance(milliseconds: Self.day - 1)
            _ = try await node.tell(set(2, one), in: room, by: owner)
            clock.advance(milliseconds: 20 * Self.day)
            let rounds = node.store.erasures.count { $0 == .removeAttachments }
            try await eventually("some rounds") {
                node.store.erasures.count { $0 == .removeAttachments } > rounds + 3
            }
            #expect(try await data(of: one, in: room, on: node) == one.data)
            #expect(try await node.store.waveforms(of: room) == [one.name: nil, two.name: nil])
        }
    }
}
