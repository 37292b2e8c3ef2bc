package import EventStorage
package import FoundationEssentials

extension PostgresStore {
    package func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID] {
        let answers = try await write([
            Call(.begin), Call(.lockNames), Call(.removeRooms, instant, max(0, limit)), Call(.unlistRooms),
            Call(.endCounting), Call(.uncount), Call(.unobserve), Call(.commit),
        ])
        guard answers.count == 8 else { throw .corrupt(.init(message: "a removal has no answer")) }
        return try answers[2].uuids()
    }

    package func sweep(limit: Int) async throws(StorageFault) -> Bool {
        try await !execute(Call(.sweep, max(1, limit))).rows.isEmpty
    }

    package func removeAttachments(
        unneededSinceBefore instant: Int64, limit: Int
    ) async throws(StorageFault) -> Int {
        try await execute(Call(.removeAttachments, instant, max(0, limit))).affectedRows
    }

    package func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID] {
        let answer = try await query(Call(.roomsToForget, max(0, limit)))
        return try answer.uuids()
    }

    package func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing] {
        let answer = try await query(Call(.roomsToClear, after, max(0, limit)))
        return try answer.rows.map { (row) throws(StorageFault) in
            try StreamClearing(
                stream: answer.uuid(row, 0), cleared: answer.int(row, 1), clearing: answer.int(row, 2))
        }
    }

    package func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault) {
        _ = try await write([
            Call(.begin), Call(.lockRoom, stream),
            Call(.clearEvents, stream, events.map(\.seq), events.map { JSONText($0.payload) }, events.map(\.checksum)),
            Call(.clearSnapshots, stream), Call(.clearCommands, stream, CommandKey.forgotten),
            Call(.clearCreation, stream, CommandKey.forgotten), Call(.noteCleared, stream, seq), Call(.commit),
        ])
    }

    package func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault) {
        _ = try await write([
            Call(.begin), Call(.lockNames),
            Call(.rewrite, stream, events.map(\.seq), events.map { JSONText($0.payload) }, events.map(\.checksum)),
            Call(.refreshTails, [stream]), Call(.exclude, stream), Call(.uncount), Call(.unobserve), Call(.commit),
        ])
    }

    package func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault) {
        let stream = renewal.stream
        _ = try await write([
            Call(.begin), Call(.lockNames), Call(.exclude, stream), Call(.uncount), Call(.unobserve),
            Call(.lockRoom, stream), Call(.forgetSnapshots, stream),
            Call(.forgetCommands, stream, CommandKey.forgotten), Call(.forgetCreation, stream, CommandKey.forgotten),
            Call(.renewForgotten, stream, renewal.epoch, renewal.checksum), Call(.endForgetting, stream, now),
            Call(.commit),
        ])
    }
}
