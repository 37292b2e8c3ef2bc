import FoundationEssentials
import GeoSearch
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomTestSupport
import RoomWire
import Testing

@Suite struct LogChecksumTests {
    private static let room = RoomID(
        UUID(uuid: (1, 0x93, 0x50, 0x3F, 0x12, 0x34, 0x7A, 0xBC, 0x8D, 0xEF, 1, 0x23, 0x45, 0x67, 0x89, 0xAB)))

    private static func session(_ number: UInt8) -> SessionID {
        SessionID(UUID(uuid: (1, 0x93, 0x50, 0x3F, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, number)))
    }

    @Test func `a change of one byte in an event's text changes its checksum`() throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        let room = Self.room.uuid
        for (seq, event) in try Self.history(&random).enumerated() {
            let type = event.kind.rawValue
            let payload = EventJSON.encodeLog(event)
            func checksum(_ payload: [UInt8]) -> Int64? {
                LogChecksum.event(room: room, seq: seq, at: 1, type: type, payload: payload)
            }
            let whole = try #require(checksum(payload))
            let value = try JSONValue(parsing: payload)
            for place in payload.indices {
                var damaged = payload
                damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                guard checksum(damaged) == whole else { continue }
                // An exponent's letter may have either case.
                #expect(
                    (try? JSONValue(parsing: damaged)) == value,
                    "\(String(decoding: payload, as: UTF8.self)) at \(place), seed \(seed)")
            }
        }
    }

    @Test func `a row's checksum covers all of its values`() {
        let (room, other) = (Self.room.uuid, Self.session(1).uuid)
        let events = [
            LogChecksum.event(room: room, seq: 1, at: 2, type: "t", payload: Array("{}".utf8)),
            LogChecksum.event(room: other, seq: 1, at: 2, type: "t", payload: Array("{}".utf8)),
            LogChecksum.event(room: room, seq: 2, at: 2, type: "t", payload: Array("{}".utf8)),
            LogChecksum.event(room: room, seq: 1, at: 1, type: "t", payload: Array("{}".utf8)),
            LogChecksum.event(room: room, seq: 1, at: 2, type: "u", payload: Array("{}".utf8)),
            LogChecksum.event(room: room, seq: 1, at: 2, type: "t", payload: Array("[]".utf8)),
            LogChecksum.event(room: room, seq: 1, at: 2, type: "t", payload: Array("{".utf8)),
        ]
        #expect(Set(events).count == events.count)
        func key(
            room: UUID = room, ordinal: Int = 1, session: UUID = other, key: String = "k", fingerprint: Int64 = 3,
            seq: Int = 4, result: String? = #"{"entry":5}"#
        ) -> Int64? {
            LogChecksum.key(
                room: room, ordinal: ordinal, session: session, key: key, fingerprint: fingerprint, seq: seq,
                result: result.map { Array($0.utf8) })
        }
        let keys = [
            key(), key(room: other), key(ordinal: 2), key(session: room), key(key: "l"), key(fingerprint: 4),
            key(seq: 5), key(result: #"{"entry":6}"#), key(result: nil), key(result: "{"),
        ]
        #expect(Set(keys).count == keys.count)
        let snapshots = [
            LogChecksum.snapshot(room: room, seq: 1, reducerVersion: 1, state: [1]),
            LogChecksum.snapshot(room: other, seq: 1, reducerVersion: 1, state: [1]),
            LogChecksum.snapshot(room: room, seq: 2, reducerVersion: 1, state: [1]),
            LogChecksum.snapshot(room: room, seq: 1, reducerVersion: 2, state: [1]),
            LogChecksum.snapshot(room: room, seq: 1, reducerVersion: 1, state: [2]),
        ]
        #expect(Set(snapshots).count == snapshots.count)
        #expect(LogChecksum.head(room: room, epoch: "a") != LogChecksum.head(room: room, epoch: "b"))
        #expect(LogChecksum.head(room: room, epoch: "a") != LogChecksum.head(room: other, epoch: "a"))
    }

    @Test func `checksums are the same in every release`() {
        let room = Self.room.uuid
        let payload = Array(#"{"member":2,"name":"Zoë","list":[1,-2.5,true,null,{"x":"\n"}]}"#.utf8)
        let event = LogChecksum.event(room: room, seq: 7, at: 1_732_200_000_000, type: "t", payload: payload)
        #expect(event == -879_026_201_074_195_240)
        #expect(LogChecksum.head(room: room, epoch: "0123456789abcdef") == 4_090_369_823_607_507_330)
        let snapshot = LogChecksum.snapshot(room: room, seq: 7, reducerVersion: 1, state: Array("{}".utf8))
        #expect(snapshot == 7_246_552_412_872_260_942)
        let key = LogChecksum.key(
            room: room, ordinal: 1, session: room, key: "k", fingerprint: -1, seq: 7, result: payload)
        #expect(key == -1_879_685_686_769_864_126)
    }

    /// Random events of all kinds.
    private static func history(_ random: inout SeededRandom) throws -> [RoomEvent] {
        let sessions = (1...4).map { Self.session($0) }
        let founding = RoomFounding(
            id: Self.room, code: .zero, name: "Café \"Ω\"", location: Coordinate(latitude: 1.25, longitude: -0.5),
            visibility: .public, settings: SettingsUpdate(), founder: sessions[0], founderName: "Ana")
        var events = try RoomState.found(founding, cell: 0)
        var state = RoomState(id: Self.room)
        let now = Timestamp(milliseconds: 1)
        for event in state.recorded(events, at: now) { state.evolve(event) }
        var commands = RandomCommands(random: SeededRandom(seed: random.next()), sessions: sessions)
        while events.count < 100, state.isOpen {
            let (command, actor) = (commands.command(for: state), commands.actor(in: state))
            guard let decided = try? state.decide(command, by: actor, at: now, cell: 0) else { continue }
            for event in state.recorded(decided, at: now) { state.evolve(event) }
            events += decided
        }
        return events
    }
}
