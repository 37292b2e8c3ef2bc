import NIOCore
import PrometheusMetrics
import RoomDomain
import Testing

@testable import RoomService

@Suite struct `Shares of what is read of logs` {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let ana = Person.guest(1).session
    private let ben = Person.guest(2).session

    private static func shares(session: Int = 0, address: Int = 0) -> ReadShares {
        var limits = ShareLimits()
        (limits.maximumReadKiBPerSession, limits.maximumReadKiBPerAddress) = (session, address)
        return ReadShares(limits, metrics: LogMetrics(factory: PrometheusRegistry()))
    }

    private func wait(_ shares: ReadShares, _ session: SessionID, from address: UInt64?, after: TimeAmount) -> Int64? {
        do throws(RoomFailure) {
            try shares.look(Asker(session, from: address), at: Self.start + after)
            return nil
        } catch {
            guard case .refused(.rateLimited(_, let wait)) = error else { return -1 }
            return wait
        }
    }

    @Test func `the last read may overdraw, and is paid for before the next`() {
        let shares = Self.shares(session: 10)
        shares.charge(1_023, to: Asker(ana, from: nil), at: Self.start)
        #expect(wait(shares, ana, from: nil, after: .zero) == nil)
        shares.charge(100 << 10, to: Asker(ana, from: nil), at: Self.start)
        // 52 KiB beyond the 50 at once, and a second's worth.
        #expect(wait(shares, ana, from: nil, after: .zero) == 6_300)
        #expect(wait(shares, ana, from: nil, after: .milliseconds(5_200)) == 1_100)
        #expect(wait(shares, ana, from: nil, after: .milliseconds(5_300)) == nil)
        #expect(wait(shares, ben, from: nil, after: .zero) == nil)
    }

    @Test func `sessions of one address share, and those of unknown addresses have nothing in common`() {
        let shares = Self.shares(address: 1)
        shares.charge(1 << 20, to: Asker(ana, from: 7), at: Self.start)
        #expect(wait(shares, ben, from: 7, after: .zero) != nil)
        #expect(wait(shares, ben, from: 8, after: .zero) == nil)
        #expect(wait(shares, ana, from: nil, after: .zero) == nil)
    }

    @Test(arguments: [true, false])
    func `who has read too much of logs reads no more, also what waits already`(isPast: Bool) async throws {
        try await withNode(settings: {
            $0.heavyWork.sideBySide[.log] = 1
            $0.shares.maximumReadKiBPerSession = 1
        }) { node in
            let (room, owner) = try await node.makeRoom()
            let title = String(repeating: "x", count: 300)
            let tracks = (0..<200).map { TrackInfo(source: "shelf", sourceID: "\($0)", title: title) }
            let seq = try #require(try await node.tell(.addTracks(tracks), in: room, by: owner).seq)
            let (host, store) = (node.host, node.store)
            let gate = Gate()
            let read = { @Sendable (person: Person) async throws(RoomFailure) in
                if isPast {
                    _ = try await host.history.view(room, at: seq, for: person.asker)
                } else {
                    _ = try await host.history.events(of: room, after: 0, limit: 100, for: person.asker)
                }
            }
            try await withThrowingTaskGroup(of: RoomFailure?.self) { group in
                defer { gate.open() }
                store.next(.read, .waits(gate))
                for number in 0..<3 {
                    group.addTask {
                        do throws(RoomFailure) {
                            try await read(owner)
                            return nil
                        } catch { return error }
                    }
                    try await eventually("it reads or waits") {
                        gate.arrived == 1
                            && node.metrics.samples["backline_heavy_work_waiting{kind=\"log\"}"] == Double(number)
                    }
                }
                gate.open()
                var failures: [RoomFailure?] = []
                for try await failure in group { failures.append(failure) }
                #expect(failures.count { $0 == nil } == 1)
                for failure in failures.compactMap(\.self) {
                    guard case .refused(.rateLimited(_, let wait)) = failure else {
                        Issue.record("refused with \(failure)")
                        continue
                    }
                    #expect((60_000..<200_000).contains(wait))
                }
            }
            await #expect(throws: RoomFailure.self) { try await read(owner) }
            // What is read and then cannot be used counts as well.
            store.damage(room, .lacks(seq: 1))
            await #expect(throws: RoomFailure.internalFault) { try await read(.guest(8)) }
            await #expect(throws: RoomFailure.self) { try await read(.guest(8)) }
            store.damage(room, nil)
            try await read(.guest(9))
            #expect(node.metrics.samples["backline_rate_limited_total{limit=\"reads_session\"}"] == 4)
        }
    }
}
