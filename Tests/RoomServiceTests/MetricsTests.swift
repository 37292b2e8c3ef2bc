import EventStorage
import FoundationEssentials
import NIOCore
import PrometheusMetrics
import RoomDomain
import RoomService
import Testing

/// The metrics of rooms.
@Suite struct MetricsTests {
    @Test func `every metric is there before anything happens, and is described`() async throws {
        try await withNode { node in
            let names = Set(node.samples.keys.map { $0.prefix { $0 != "{" } })
            for name in RoomMetrics.help.keys {
                #expect(names.contains { $0 == name || $0 == name + "_count" }, "\(name)")
            }
            #expect(names.count { !$0.hasSuffix("_bucket") && !$0.hasSuffix("_sum") } == RoomMetrics.help.count)
            #expect(node.samples.values.allSatisfy { $0 == 0 })
        }
    }

    @Test func `a command is counted by its type and outcome, and timed`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            _ = try await node.tell(.rename(name: "Anna"), in: room, by: owner, key: "1")
            _ = try await node.tell(.rename(name: "Bea"), in: room, by: owner, key: "1")
            _ = try await node.tell(.pause, in: room, by: .bob)
            _ = try await node.tell(.leave, in: RoomID(UUID()), by: owner)
            let expected = [
                #"{command="rename",outcome="acknowledged"}"#: 1.0, #"{command="rename",outcome="key_reused"}"#: 1,
                #"{command="pause",outcome="refused"}"#: 1, #"{command="leave",outcome="no_such_room"}"#: 1,
            ]
            #expect(node.nonzero("backline_commands_total") == expected)
            let timed = ["acknowledged", "key_reused", "refused", "no_such_room"].map { (#"{outcome="\#($0)"}"#, 1.0) }
            #expect(node.nonzero("backline_command_duration_seconds_count") == Dictionary(uniqueKeysWithValues: timed))
        }
    }

    @Test func `a command's time lasts until its answer`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let answer = node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            await node.advance(by: .milliseconds(20))
            #expect(node.nonzero("backline_commands_total") == [:])
            gate.open()
            _ = try await answer.outcome()
            for name in ["backline_command_duration_seconds_sum", "backline_append_duration_seconds_sum"] {
                let seconds = try #require(node.nonzero(name).values.first)
                #expect(seconds == 0.02, "\(name)")
            }
        }
    }

    @Test func `an append is counted by its rooms and events`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            _ = try await node.tell(.addTracks([.named("a"), .named("b")]), in: room, by: owner)
            _ = try await node.tell(.vote(track: TrackID(rawValue: 1)), in: room, by: owner)
            let events = Double(node.store.head(of: room) - 2)
            #expect(node.samples["backline_append_duration_seconds_count"] == 2)
            #expect(node.samples["backline_append_rooms_sum"] == 2)
            #expect(node.samples["backline_append_events_sum"] == events)
            #expect(node.samples["backline_events_appended_total"] == events)
            #expect(node.samples["backline_append_conflicts_total"] == 0)
            #expect(node.nonzero("backline_append_failures_total") == [:])
        }
    }

    @Test func `a lost race and a fault of the store are told apart`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            _ = try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner)
            _ = try await nodes[1].tell(.rename(name: "Bea"), in: room, by: owner)
            #expect(nodes[0].samples["backline_append_conflicts_total"] == 0)
            #expect(nodes[1].samples["backline_append_conflicts_total"] == 1)
            #expect(nodes[1].samples["backline_events_appended_total"] == 1)
            nodes[0].store.next(.append, .fails(FaultyEventStore.unreachable), .losesAnswer)
            for _ in 0..<2 { _ = try await nodes[1].tell(.rename(name: "Cleo"), in: room, by: owner) }
            let failures = [#"{fault="unreachable"}"#: 1.0, #"{fault="outcome_unknown"}"#: 1]
            #expect(nodes[1].nonzero("backline_append_failures_total") == failures)
            #expect(nodes[1].samples["backline_append_duration_seconds_count"] == 4)
            for outcome in ["unavailable", "outcome_unknown"] {
                let name = #"backline_commands_total{command="rename",outcome="\#(outcome)"}"#
                #expect(nodes[1].samples[name] == 1, "\(outcome)")
            }
        }
    }

    @Test func `a room is counted while it is in memory, when it comes and when it goes`() async throws {
        try await withNode(settings: {
            $0.evictAfter = .nanoseconds(1)
            $0.comparisonInterval = .milliseconds(1)
        }) { node in
            let (room, owner) = try await node.makeRoom()
            let client = Client(owner)
            client.connect(to: node, following: room)
            try await eventually("a snapshot") { client.isFollowing }
            #expect(await node.host.registry.liveRooms() == 1)
            #expect(node.nonzero("backline_room_loads_total") == [#"{outcome="loaded"}"#: 1])
            #expect(node.samples["backline_rooms_evicted_total"] == 0)
            client.drop()
            try await eventually("the room to go") { await node.host.registry.liveRooms() == 0 }
            #expect(node.samples["backline_rooms_evicted_total"] == 1)
            try await eventually("a snapshot") { node.samples[#"backline_snapshots_total{outcome="saved"}"#] == 1 }
        }
    }

    @Test func `a look for a room and a snapshot that fail are counted as such`() async throws {
        try await withNode(settings: { $0.eventsPerSnapshot = 1 }) { node in
            let (room, owner) = try await node.makeRoom()
            node.store.next(.load, .fails(FaultyEventStore.unreachable))
            node.store.next(.save, .fails(FaultyEventStore.unreachable))
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.unavailable))
            #expect(await node.host.registry.liveRooms() == 0)
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            let loads = [#"{outcome="unavailable"}"#: 1.0, #"{outcome="loaded"}"#: 1]
            #expect(node.nonzero("backline_room_loads_total") == loads)
            try await eventually("a snapshot") { node.samples[#"backline_snapshots_total{outcome="failed"}"#] == 1 }
        }
    }

    @Test func `a command bears the name that the protocol gives it`() async throws {
        let id = UUID()
        let commands: [(String, RoomCommand)] = [
            ("join", .join(name: nil)), ("leave", .leave), ("rename", .rename(name: "Anna")),
            ("updateRoom", .updateRoom(RoomUpdate())), ("closeRoom", .closeRoom),
            ("setRole", .setRole(member: MemberID(rawValue: 1), role: .dj)),
            ("transferOwnership", .transferOwnership(member: MemberID(rawValue: 1))),
            ("kick", .kick(member: MemberID(rawValue: 1), ban: false, note: nil)),
            ("unban", .unban(member: MemberID(rawValue: 1))), ("addTracks", .addTracks([])),
            ("removeTracks", .removeTracks([])), ("vote", .vote(track: TrackID(rawValue: 1))),
            ("unvote", .unvote(track: TrackID(rawValue: 1))),
            ("enqueue", .enqueue(track: TrackID(rawValue: 1), index: nil)),
            ("dequeue", .dequeue(entry: EntryID(rawValue: 1))), ("move", .move(entry: EntryID(rawValue: 1), index: 0)),
            ("play", .play(entry: nil)), ("pause", .pause), ("resume", .resume), ("seek", .seek(positionMs: 0)),
            ("skip", .skip), ("finish", .finish(entry: EntryID(rawValue: 1))),
            ("endMembership", .endMembership(session: SessionID(id), reason: .expired)),
        ]
        try await withNode { node in
            for (_, command) in commands { _ = try await node.tell(command, in: RoomID(id), by: .bob) }
            let expected = commands.map { (#"{command="\#($0.0)",outcome="no_such_room"}"#, 1.0) }
            #expect(node.nonzero("backline_commands_total") == Dictionary(uniqueKeysWithValues: expected))
        }
    }
}

extension Node {
    /// All recorded values by name and labels, as they are written.
    var samples: [String: Double] { metrics.samples }

    /// The series of one name that are not zero, by labels.
    func nonzero(_ name: String) -> [String: Double] {
        samples.reduce(into: [:]) { series, sample in
            guard sample.value != 0, sample.key.prefix(while: { $0 != "{" }) == name else { return }
            series[String(sample.key.dropFirst(name.count))] = sample.value
        }
    }
}

extension PrometheusRegistry {
    /// All recorded values by name and labels, as they are written.
    var samples: [String: Double] {
        let lines = String(decoding: exposition(), as: UTF8.self).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("#") }.reduce(into: [:]) { samples, line in
            guard let space = line.lastIndex(of: " ") else { return }
            samples[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
    }
}
