import FoundationEssentials
import NIOCore
import PrometheusMetrics
import RoomDomain
import Testing

@testable import RoomService

@Suite struct `Shares of the log` {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let ana = SessionID(UUID())
    private let ben = SessionID(UUID())
    private let room = RoomID(UUID())
    private let other = RoomID(UUID())

    private static func shares(room: Int = 0, session: Int = 0, address: Int = 0) -> LogShares {
        var settings = RoomHostSettings()
        settings.shares.maximumEventsPerRoom = room
        settings.shares.maximumEventsPerSession = session
        settings.shares.maximumEventsPerAddress = address
        return LogShares(settings, metrics: LogMetrics(factory: PrometheusRegistry()))
    }

    /// The number of charges of one event that are accepted before one is refused.
    private static func until(_ limit: Int, _ charge: () throws(RoomRefusal) -> Void) -> Int {
        for count in 0..<limit {
            do { try charge() } catch { return count }
        }
        return limit
    }

    @Test func `a session has a share of each room, of the log, and of its address's`() {
        let shares = Self.shares(room: 2, session: 4, address: 6)
        func until(_ session: SessionID, _ room: RoomID?) -> Int {
            Self.until(100) { () throws(RoomRefusal) in
                try shares.charge(1, to: session, in: room, from: 1, at: Self.start)
            }
        }
        #expect(until(ana, room) == 10)
        // A charge that the room's share refuses is not charged to the others.
        #expect(until(ana, other) == 10)
        #expect(until(ana, nil) == 0)
        #expect(until(ben, room) == 10)
        #expect(until(ben, other) == 0, "the address has nothing left")
    }

    @Test func `sessions of unknown addresses have no share in common`() {
        let shares = Self.shares(address: 1)
        for _ in 0..<100 {
            #expect(throws: Never.self) { try shares.charge(1, to: ana, in: room, from: nil, at: Self.start) }
        }
    }

    @Test func `a refusal says when there is a second's worth again`() throws {
        let shares = Self.shares(room: 600)
        try shares.charge(3_005, to: ana, in: room, from: nil, at: Self.start)
        let refusal = #expect(throws: RoomRefusal.self) {
            try shares.charge(1, to: ana, in: room, from: nil, at: Self.start)
        }
        guard case .rateLimited(_, let wait) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        // Five too many plus eleven, at ten a second.
        #expect(wait == 1_600)
        try shares.charge(10, to: ana, in: room, from: nil, at: Self.start + .milliseconds(wait))
    }

    @Test func `a long event costs more than one`() throws {
        let info = TrackInfo(source: "s", sourceID: "1", title: String(repeating: "x", count: 300))
        let tracks = (1...500).map { NumberedTrack(id: TrackID(rawValue: $0), info: info) }
        let added = RecordedEvent(
            seq: 1, at: Timestamp(milliseconds: 0), event: .tracksAdded(tracks: tracks, by: MemberID(rawValue: 1)))
        #expect(LogShares.cost(of: [added]) > 500)
        let vote = RecordedEvent(
            seq: 1, at: Timestamp(milliseconds: 0),
            event: .voteCast(track: TrackID(rawValue: 1), by: MemberID(rawValue: 1), votes: 1, requestedSeq: 1))
        #expect(LogShares.cost(of: [vote]) == 1)
    }

    @Test func `ten thousand songs of eight MiB fit at once into each share`() {
        let settings = RoomHostSettings()
        // About the number of events of a command, and its bytes.
        let cost = 20 * (1 + (8 << 20) / 20 / 256)
        for share in [
            settings.shares.maximumEventsPerRoom, settings.shares.maximumEventsPerSession,
            settings.shares.maximumEventsPerAddress,
        ] { #expect(cost < 5 * share) }
        // And 760,504 events of 113 MB in eleven seconds do not fit.
        let flood = 760_504 + 113_000_000 / 256
        #expect(flood > 5 * settings.shares.maximumEventsPerAddress + settings.shares.maximumEventsPerAddress / 5)
    }

    /// A command that overdraws a share of five by hundreds, so that a slow test sees the same as a quick one.
    private static let overdraft = RoomCommand.addTracks(
        (1...400).map { TrackInfo(source: "s", sourceID: "\($0)", title: String(repeating: "x", count: 300)) })

    @Test func `a refused command leaves no trace, and others go on`() async throws {
        try await withNode(settings: { $0.shares.maximumEventsPerRoom = 1 }) { node in
            let (room, owner) = try await node.makeRoom()
            let guest = Person.guest(2)
            _ = try await node.tell(.join(name: nil), in: room, by: guest)
            for number in 1...4 {
                #expect(try await node.tell(.rename(name: "Name \(number)"), in: room, by: owner).seq != nil)
            }
            #expect(try await node.tell(Self.overdraft, in: room, by: owner).seq == 8)
            let outcome = try await node.tell(.rename(name: "Too much"), in: room, by: owner)
            guard case .failed(.refused(.rateLimited(_, let wait))) = outcome, wait > 0 else {
                Issue.record("\(outcome)")
                return
            }
            // Three events made the room and its members.
            #expect(try await node.tell(.rename(name: "Somebody else"), in: room, by: guest).seq == 9)
            // A command that changes nothing costs nothing.
            #expect(try await node.tell(.pause, in: room, by: owner).seq == 9)
            try await expectFoldOfLog(of: room, on: [node])
        }
    }

    @Test func `a command that is decided anew is charged once`() async throws {
        try await withNodes(2, settings: { $0.shares.maximumEventsPerRoom = 1 }) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            for number in 1...5 {
                // Another member's command at another server, of which this one gets no hint.
                _ = try await nodes[1].tell(.join(name: nil), in: room, by: .guest(UInt8(number + 1)))
                let command = number < 5 ? RoomCommand.rename(name: "Name \(number)") : Self.overdraft
                #expect(try await nodes[0].tell(command, in: room, by: owner).seq != nil)
            }
            guard
                case .failed(.refused(.rateLimited)) = try await nodes[0].tell(.rename(name: "No"), in: room, by: owner)
            else {
                Issue.record("the sixth was not refused")
                return
            }
        }
    }
}
