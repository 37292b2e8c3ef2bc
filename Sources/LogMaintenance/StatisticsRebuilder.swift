package import EventStorage
import FoundationEssentials
package import RoomDomain
import RoomStatistics
import RoomWire

/// Makes statistics anew from the log: the repair.
///
/// Each room is replaced in one transaction, so that readers see the former rows or the new ones. Servers may count
/// meanwhile. After an interruption, rooms that are done are not done again.
package struct StatisticsRebuilder: Sendable {
    private let archive: any StatisticsArchive
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (Finding) -> Void

    /// Makes a rebuilder that passes rooms that cannot be read to `report`.
    package init(
        _ archive: any StatisticsArchive, now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (Finding) -> Void
    ) {
        self.archive = archive
        self.now = now
        self.report = report
    }

    /// Rebuilds rooms, with `jobs` pages side by side; `progress` is told the sums now and then.
    package func rebuild(
        _ choice: StatisticsRooms.Choice, jobs: Int,
        progress: (StatisticsVerification) -> Void = { _ in }
    ) async throws(StorageFault) -> StatisticsVerification {
        guard case .all = choice else {
            return try await StatisticsRooms(choice).each(in: archive, jobs: jobs, rebuild, progress: progress)
        }
        if try await archive.rebuildingSince() == nil {
            try await archive.unmarkProven()
            try await archive.markRebuilding(since: now().milliseconds)
        }
        // What this rebuilding has done is proven.
        let rooms = StatisticsRooms(.all) { $0.proven > 0 }
        let sum = try await rooms.each(in: archive, jobs: jobs, rebuild, progress: progress)
        while let stray = try await archive.strays(after: nil, limit: 1).first { try await archive.deleteStray(stray) }
        while true {
            let unnamed = try await archive.unnamedTracks(after: nil, limit: 500)
            guard !unnamed.isEmpty else { break }
            try await archive.deleteUnnamed(unnamed)
        }
        let now = now().milliseconds
        for day in Set(
            try await archive.days().map(\.day) + archive.staleDays(before: Int(now / 86_400_000), limit: 100_000)
        ).sorted() {
            _ = try await archive.computeDay(day, at: now)
        }
        try await archive.markRebuilding(since: nil)
        return sum
    }

    private func rebuild(_ page: [UUID]) async throws(StorageFault) -> StatisticsVerification {
        var sum = StatisticsVerification()
        var left = page
        while !left.isEmpty {
            let firstMinute = RoomTally.firstMinuteKept(at: now())
            let proofs = try await archive.proofs(of: left, toHead: true, firstMinute: firstMinute)
            left = []
            let begun = proofs.filter { $0.counted == nil }.map(\.stream)
            if !begun.isEmpty { try await archive.beginCounting(begun, version: RoomTally.definitions) }
            left += begun
            for proof in proofs {
                guard let counted = proof.counted, counted.version != CountedPosition.excluded else { continue }
                guard let flush = expected(proof, firstMinute: firstMinute) else {
                    sum.findings += 1
                    continue
                }
                // Where servers have counted meanwhile, it is done again.
                guard try await archive.replace(flush, ifCounted: counted, at: now().milliseconds) == .counted else {
                    left.append(proof.stream)
                    continue
                }
                sum.rooms += 1
                sum.events += proof.through
                try await archive.markProven([
                    proof.stream: CountedPosition(epoch: flush.epoch, seq: flush.through, version: flush.version)
                ])
            }
        }
        return sum
    }

    private func expected(_ proof: StatisticsProof, firstMinute: Int) -> StatisticsFlush? {
        do throws(StoredEventFault) {
            let expected = try ExpectedStatistics(proof, firstMinute: firstMinute)
            return StatisticsFlush(
                stream: proof.stream, epoch: proof.head.epoch, version: RoomTally.definitions, since: 0,
                through: proof.through, counts: expected.counts, plays: expected.plays,
                tracks: expected.tracks.values.sorted { $0.track < $1.track }, founder: expected.founder)
        } catch {
            report(
                Finding(
                    room: proof.stream, "the room's log", expected: "events that can be read", found: "\(error)",
                    .restore))
            return nil
        }
    }
}
