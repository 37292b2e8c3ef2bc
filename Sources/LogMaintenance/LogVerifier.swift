package import EventStorage
package import FoundationEssentials

/// The result of a verification.
package struct Verification: Hashable, Sendable {
    /// Rooms that were checked.
    package var rooms = 0
    /// Events that were folded.
    package var events = 0
    /// Faults that were found.
    package var findings = 0
    /// Rows that were written without a checksum; their values are checked only as far as other rows determine them.
    package var withoutChecksum = 0

    package init() {}
}

/// Reads a log's tables and checks that they hold what servers wrote.
///
/// It checks positions, checksums, heads, directory, snapshots, keys, memberships and waveforms, each against the fold
/// of the events.
///
/// Servers may write meanwhile: each room is checked up to the head that is read first, since events never change.
/// Memory holds one room's fold and one page of its events.
package struct LogVerifier {
    /// The size of one read.
    static let page = PageLimit(rows: 1_000, bytes: 1 << 20)
    /// The number of waveforms in one read.
    static let waveformsPerPage = 500

    private let archive: any LogArchive
    private let report: (Finding) -> Void
    private let progress: (Verification) -> Void

    /// Makes a verifier that passes each finding to `report`, and now and then its counts to `progress`.
    package init(
        _ archive: any LogArchive, report: @escaping (Finding) -> Void,
        progress: @escaping (Verification) -> Void = { _ in }
    ) {
        self.archive = archive
        self.report = report
        self.progress = progress
    }

    /// Checks the whole log.
    package func verify() async throws(StorageFault) -> Verification {
        var verification = Verification()
        try await look(at: "unfinished_imports", &verification, findUnfinishedImport)
        try await look(at: LogPart.heads.rows, &verification, verifyRooms)
        for part in LogPart.allCases where part != .heads {
            try await look(at: part.rows, &verification) { (verification) async throws(StorageFault) in
                try await findStrays(in: part, &verification)
            }
        }
        try await look(at: "creation keys", &verification, findStrayCreations)
        return verification
    }

    /// Does a part of the work; if the rows that it lists cannot be read, reports a finding and ends the part.
    private func look(
        at rows: String, _ verification: inout Verification,
        _ body: (inout Verification) async throws(StorageFault) -> Void
    ) async throws(StorageFault) {
        do throws(StorageFault) {
            try await body(&verification)
        } catch .corrupt(let cause) {
            let finding = Finding(
                room: nil, rows, expected: "rows that can be read", found: cause.message, .restoreLog)
            add([finding], to: &verification)
        }
    }

    private func findUnfinishedImport(_ verification: inout Verification) async throws(StorageFault) {
        guard try await archive.hasUnfinishedImport() else { return }
        let finding = Finding(
            room: nil, "log", expected: "all of it", found: "an import that was not finished", .importAgain)
        add([finding], to: &verification)
    }

    /// Checks one room; nil if there is no such room.
    package func verify(room: UUID) async throws(StorageFault) -> Verification? {
        var verification = Verification()
        try await verify(room, into: &verification)
        return verification.rooms == 0 ? nil : verification
    }

    private func add(_ findings: [Finding], to verification: inout Verification) {
        verification.findings += findings.count
        for finding in findings { report(finding) }
    }

    // MARK: Rooms

    private func verifyRooms(_ verification: inout Verification) async throws(StorageFault) {
        var last: UUID?
        while true {
            let streams = try await archive.streams(in: .heads, after: last, limit: Self.page.rows)
            guard let end = streams.last else { return }
            last = end
            for stream in streams { try await verify(stream, into: &verification) }
        }
    }

    private func verify(_ stream: UUID, into verification: inout Verification) async throws(StorageFault) {
        do throws(StorageFault) {
            guard let proof = try await settledProof(of: stream, from: verification) else { return }
            verification.events += proof.events
            verification.withoutChecksum += proof.withoutChecksum
            add(proof.findings, to: &verification)
        } catch .corrupt(let cause) {
            let finding = Finding(
                room: stream, "the room's rows", expected: "rows that can be read", found: cause.message, .restore)
            add([finding], to: &verification)
        }
        verification.rooms += 1
        progress(verification)
    }

    /// Checks a room as it was at one time; nil if there is no such room.
    ///
    /// If a room's epoch was renewed meanwhile, the room may have been rewritten during the reading.
    private func settledProof(
        of stream: UUID, from verification: Verification
    ) async throws(StorageFault) -> RoomProof? {
        while let archived = try await archive.archived(stream) {
            let proof = try await proof(of: archived, from: verification)
            if proof.findings.isEmpty { return proof }
            if try await archive.archived(stream)?.head.epoch == archived.head.epoch { return proof }
        }
        return nil
    }

    private func proof(
        of archived: ArchivedStream, from verification: Verification
    ) async throws(StorageFault) -> RoomProof {
        var proof = RoomProof(archived)
        var snapshots = archived.snapshots[...]
        var last = 0
        while true {
            let events = try await archive.events(
                of: archived.stream, after: last, through: archived.head.version.seq, page: Self.page)
            guard let end = events.last else { break }
            last = end.seq
            for event in events {
                proof.take(event)
                while let seq = snapshots.first, seq <= event.seq {
                    snapshots.removeFirst()
                    // A missing snapshot was replaced by a newer one.
                    guard seq == event.seq, let snapshot = try await archive.snapshot(of: archived.stream, at: seq)
                    else { continue }
                    proof.take(snapshot)
                }
            }
            var verification = verification
            verification.events += proof.events
            progress(verification)
        }
        var names = archived.attachments.map(\.name)[...]
        while !names.isEmpty {
            let page = Array(names.prefix(Self.waveformsPerPage))
            names.removeFirst(page.count)
            // A missing one was deleted since the head was read, because no track had it.
            for attachment in try await archive.attachments(page, of: archived.stream) { proof.take(attachment) }
        }
        proof.finish()
        return proof
    }

    // MARK: Rows of no room

    // A room may be removed after its rows were listed and before its head is read. Rows that seem to belong to no room
    // are therefore listed again: a removed room is then left out. Other rooms may have been added meanwhile, so that
    // page is larger.

    private func findStrays(in part: LogPart, _ verification: inout Verification) async throws(StorageFault) {
        var last: UUID?
        while true {
            let streams = try await archive.streams(in: part, after: last, limit: Self.page.rows)
            guard let end = streams.last else { return }
            let heads = try await archive.heads(of: streams)
            var strays = streams.filter { heads[$0] == nil }
            if !strays.isEmpty {
                let listed = Set(try await archive.streams(in: part, after: last, limit: 2 * Self.page.rows))
                strays.removeAll { !listed.contains($0) }
            }
            last = end
            add(
                strays.map {
                    Finding(room: $0, "\(part.rows)", expected: "a room", found: "no row of heads", .deleteRows)
                }, to: &verification)
        }
    }

    private func findStrayCreations(_ verification: inout Verification) async throws(StorageFault) {
        var last: CreationKey?
        while true {
            let keys = try await archive.creationKeys(after: last, limit: Self.page.rows)
            guard let end = keys.last else { return }
            let heads = try await archive.heads(of: Array(Set(keys.map(\.stream))))
            var strays = keys.filter { heads[$0.stream] == nil }
            if !strays.isEmpty {
                let listed = Set(try await archive.creationKeys(after: last, limit: 2 * Self.page.rows))
                strays.removeAll { !listed.contains($0) }
            }
            last = end
            add(
                strays.map {
                    Finding(room: $0.stream, "creation key", expected: "a room", found: "no row of heads", .deleteRows)
                }, to: &verification)
        }
    }
}

extension LogPart {
    fileprivate var rows: String {
        switch self {
        case .heads: "heads"
        case .directory: "directory"
        case .events: "events"
        case .keys: "command_keys"
        case .snapshots: "snapshots"
        case .memberships: "memberships"
        case .attachments: "waveforms"
        }
    }
}
