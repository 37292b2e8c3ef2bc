package import EventStorage
import FoundationEssentials
package import RoomDomain
import RoomLog
import RoomStatistics
import RoomWire

/// The result of comparing statistics with the log.
package struct StatisticsVerification: Hashable, Sendable {
    /// Rooms that were compared.
    package var rooms = 0
    /// Events of their logs.
    package var events = 0
    /// Rooms that are not counted yet, or by another version of the definitions.
    package var uncounted = 0
    /// Faults that were found.
    package var findings = 0

    package init() {}

    static func += (left: inout Self, right: Self) {
        left.rooms += right.rooms
        left.events += right.events
        left.uncounted += right.uncounted
        left.findings += right.findings
    }
}

/// Compares every row of the statistics with what the log says; rooms without findings are recorded as proven.
///
/// Servers may count meanwhile: each room is compared up to its counted position, as of one instant.
package struct StatisticsVerifier: Sendable {
    /// The rooms that are read together, and about how many events they may have.
    static let page = (rooms: 256, events: 100_000)
    /// The rows of no room, and the songs that nothing names, that are reported at most.
    private static let mostStrays = 1_000

    private let archive: any StatisticsArchive
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (Finding) -> Void

    /// Makes a verifier that passes each finding to `report`.
    package init(
        _ archive: any StatisticsArchive, now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (Finding) -> Void
    ) {
        self.archive = archive
        self.now = now
        self.report = report
    }

    /// Compares rooms, with `jobs` pages side by side; `progress` is told the sums now and then.
    package func verify(
        _ rooms: StatisticsRooms, jobs: Int, progress: (StatisticsVerification) -> Void = { _ in }
    ) async throws(StorageFault) -> StatisticsVerification {
        var sum = try await rooms.each(in: archive, jobs: jobs, verify, progress: progress)
        guard case .all = rooms.choice else { return sum }
        for room in try await archive.strays(after: nil, limit: Self.mostStrays) {
            add(
                Finding(
                    room: room, "statistics", expected: "none, because the room is not counted",
                    found: "counts, plays or listeners", .recountAll), &sum)
        }
        for track in try await archive.unnamedTracks(after: nil, limit: Self.mostStrays) {
            add(
                Finding(
                    room: nil, "song \(track.uuidString.lowercased()) in statistics_tracks",
                    expected: "a play that names it", found: "none", .recountAll), &sum)
        }
        try await verifyDays(&sum)
        return sum
    }

    // MARK: Days

    /// Compares the days, and seals those that are over, and of which everything is proven.
    private func verifyDays(_ sum: inout StatisticsVerification) async throws(StorageFault) {
        let unproven = try await archive.firstUnproven() ?? .max
        let now = now().milliseconds
        for day in try await archive.days() {
            // A day that is to be computed again is compared the next time.
            guard let proof = try await archive.dayProof(of: day.day) else { continue }
            let (text, checksum) = (StatisticsDay(day.day).description, LogChecksum.day(proof.stored))
            let end = Int64(day.day + 1) * 86_400_000
            // What was stored of a day that is not over is older than its plays.
            guard end <= day.computedAt else { continue }
            for (stored, expected) in Self.differences(proof) {
                add(
                    Finding(
                        room: nil, "numbers across rooms of \(text)", expected: expected, found: stored, .recomputeDay),
                    &sum)
            }
            if let sealed = day.checksum, sealed != checksum {
                add(
                    Finding(
                        room: nil, "numbers across rooms of \(text), which is sealed: checksum",
                        expected: hexadecimal(sealed), found: hexadecimal(checksum), .recomputeDay), &sum)
            }
            guard day.sealedAt == nil, sum.findings == 0, end <= unproven else { continue }
            try await archive.seal(day.day, computedAt: day.computedAt, checksum: checksum, at: now)
        }
    }

    private static func differences(_ proof: DayProof) -> [(stored: String, expected: String)] {
        let stored = Dictionary(proof.stored.map { ($0.track, $0) }) { one, _ in one }
        let expected = Dictionary(proof.expected.map { ($0.track, $0) }) { one, _ in one }
        return Set(stored.keys).union(expected.keys).sorted().compactMap { track in
            guard stored[track] != expected[track] else { return nil }
            return (stored[track]?.text ?? "none", expected[track]?.text ?? "none")
        }
    }

    private func add(_ finding: Finding, _ sum: inout StatisticsVerification) {
        sum.findings += 1
        report(finding)
    }

    private func verify(_ page: [UUID]) async throws(StorageFault) -> StatisticsVerification {
        var sum = StatisticsVerification()
        var proven: [UUID: CountedPosition] = [:]
        for proof in try await archive.proofs(of: page, toHead: false, firstMinute: nil) {
            guard let counted = proof.counted else {
                sum.uncounted += 1
                continue
            }
            sum.rooms += 1
            let findings = compare(proof, counted)
            for finding in findings { add(finding, &sum) }
            guard counted.version == RoomTally.definitions, counted.epoch == proof.head.epoch else {
                if counted.version != CountedPosition.excluded { sum.uncounted += 1 }
                continue
            }
            sum.events += proof.through
            if findings.isEmpty { proven[proof.stream] = counted }
        }
        if !proven.isEmpty { try await archive.markProven(proven) }
        return sum
    }

    private func compare(_ proof: StatisticsProof, _ counted: CountedPosition) -> [Finding] {
        let room = proof.stream
        // Another epoch or version: servers count the room anew. Rows of rooms that count for nothing are strays.
        guard counted.epoch == proof.head.epoch, counted.version == RoomTally.definitions else { return [] }
        guard counted.seq <= proof.head.version.seq else {
            return [
                Finding(
                    room: room, "statistics_heads: seq", expected: "at most \(proof.head.version.seq)",
                    found: "\(counted.seq)", .recount)
            ]
        }
        let firstMinute = proof.counts.keys.filter { $0.step == .minute }.map(\.minute).min() ?? Int(Int32.max)
        do throws(StoredEventFault) {
            let expected = try ExpectedStatistics(proof, firstMinute: firstMinute)
            return differences(in: proof.counts, from: expected.counts, of: room)
                + differences(in: proof.plays, from: expected.plays, of: room)
                + differences(in: proof.tracks, from: expected.tracks, of: room)
                + differences(in: proof.founder, from: expected.founder, of: room)
        } catch {
            return [
                Finding(
                    room: room, "the room's log", expected: "events that can be read", found: "\(error)", .restore)
            ]
        }
    }

    // MARK: Differences

    private func differences(
        in stored: [CountBucket: EventCounts], from expected: [CountBucket: EventCounts], of room: UUID
    ) -> [Finding] {
        let quarters = Set(stored.keys.map(\.quarter)).union(expected.keys.map(\.quarter)).sorted()
        return quarters.flatMap { quarter -> [Finding] in
            let minutes = (quarter.minute..<quarter.minute + 15).map { CountBucket(.minute, at: $0) }
            let isByMinute = stored[quarter] == nil && expected[quarter] == nil
            let spans = isByMinute ? minutes.map { [$0] } : [[quarter] + minutes]
            return spans.compactMap { span in
                let (found, wanted) = (sum(stored, span), sum(expected, span))
                guard found != wanted else { return nil }
                return Finding(
                    room: room, "counts of the \(isByMinute ? "minute" : "quarter of an hour") \(text(span[0].minute))",
                    expected: wanted.text, found: found.text, .recount)
            }
        }
    }

    private func sum(_ counts: [CountBucket: EventCounts], _ span: [CountBucket]) -> EventCounts {
        span.reduce(into: EventCounts()) { $0 += counts[$1] ?? EventCounts() }
    }

    private func differences(
        in stored: [CountedPlay], from expected: [CountedPlay], of room: UUID
    ) -> [Finding] {
        let places = Set((stored + expected).map(\.place)).sorted()
        let (found, wanted) = (
            Dictionary(stored.map { ($0.place, $0) }) { one, _ in one },
            Dictionary(expected.map { ($0.place, $0) }) { one, _ in one }
        )
        return places.compactMap { place in
            guard found[place] != wanted[place] else { return nil }
            return Finding(
                room: room, "play of entry \(place.entry)", expected: wanted[place]?.text ?? "none",
                found: found[place]?.text ?? "none", .recount)
        }
    }

    private func differences(
        in stored: [CountedTrack], from expected: [UUID: CountedTrack], of room: UUID
    ) -> [Finding] {
        let found = Dictionary(stored.map { ($0.track, $0) }) { one, _ in one }
        return expected.values.sorted { $0.track < $1.track }.compactMap { wanted in
            let song = found[wanted.track]
            // Rooms may write the same song in another way.
            if let song, song.artistKey == wanted.artistKey, TitleKey(song.title).bytes == TitleKey(wanted.title).bytes,
                song.artist.map({ TitleKey($0).bytes }) == wanted.artist.map({ TitleKey($0).bytes })
            {
                return nil
            }
            return Finding(
                room: room, "song \(wanted.track.uuidString.lowercased())", expected: wanted.text,
                found: song?.text ?? "none", .recount)
        }
    }

    private func differences(in stored: UUID?, from expected: UUID?, of room: UUID) -> [Finding] {
        guard stored != expected else { return [] }
        func text(_ founder: UUID?) -> String { founder.map { SessionID($0).description } ?? "none" }
        return [
            Finding(
                room: room, "statistics_heads: founder", expected: text(expected), found: text(stored), .recount)
        ]
    }

    private func text(_ minute: Int) -> String {
        Date(timeIntervalSince1970: Double(minute) * 60).formatted(.iso8601)
    }
}

extension EventCounts {
    fileprivate var text: String {
        let names = ["starts", "plays", "skips", "votes", "unvotes", "requests", "joins", "leaves", "tracks"]
        let parts = zip(names, Self.numbers).filter { self[keyPath: $1] != 0 }.map { "\(self[keyPath: $1]) \($0)" }
        let all = parts + (playedMs == 0 ? [] : ["\(playedMs) ms played"])
        return all.isEmpty ? "nothing" : all.joined(separator: " ")
    }
}

extension DayTrack {
    fileprivate var text: String {
        "song \(track.uuidString.lowercased()): \(plays) plays in rooms of \(owners) owners, \(playedMs) ms"
    }
}

extension CountedPlay {
    fileprivate var text: String {
        "track \(number) (\(track.uuidString.lowercased())) added by \(addedBy), \(startedAt) to \(endedAt), "
            + "\(playedMs) ms, \(reason)\(isPlay ? ", a play" : "")\(isPublic ? ", counted across rooms" : "")"
    }
}

extension CountedTrack {
    fileprivate var text: String {
        "\(title) by \(artist ?? "nobody") (\(artistKey?.uuidString.lowercased() ?? "no artist"))"
    }
}
