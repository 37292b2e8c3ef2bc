package import EventStorage
package import FoundationEssentials

extension PostgresStore {
    package func load(
        _ stream: UUID, reducerVersion: Int, after: StreamVersion?
    ) async throws(StorageFault) -> LoadedStream? {
        let parts =
            if let after {
                [Call(.events, stream, after.seq, Int?.none), Call(.keys, stream, after.keyed)]
            } else {
                [
                    Call(.eventsAfterSnapshot, stream, reducerVersion), Call(.keys, stream, 0),
                    Call(.newestSnapshot, stream, reducerVersion),
                ]
            }
        // All statements read one snapshot of the database.
        let calls = [Call(.beginReading), Call(.head, stream)] + parts + [Call(.commit)]
        let answers = try await pool.run(.calls(calls), isWrite: false)
        guard answers.count == calls.count else { throw .corrupt(.init(message: "a load lacks answers")) }
        let head = answers[1]
        guard let row = head.rows.first else { return nil }
        return try LoadedStream(
            head: Self.head(in: head, row),
            snapshot: after == nil ? Self.snapshot(in: answers[4], reducerVersion: reducerVersion) : nil,
            events: Self.events(in: answers[2]), keys: Self.keys(in: answers[3]))
    }

    /// A bounded read uses several statements, so that few events are read in vain and no connection is held for long:
    /// a statement reads the payloads of all events that it is asked for, also of those that are one too many.
    package func read(
        _ stream: UUID, after seq: Int, limit: Int, bytes: Int
    ) async throws(StorageFault) -> [StoredEvent] {
        guard bytes < .max else { return try await Self.events(in: query(Call(.events, stream, seq, max(0, limit)))) }
        return try await events(of: stream, after: seq, limit: limit, bytes: bytes, perStatement: 100)
    }

    /// Reads events until `limit` or `bytes` is reached, at most `perStatement` with one statement: one that begins with
    /// small events may read as many large ones in vain.
    func events(
        of stream: UUID, after seq: Int, limit: Int, bytes: Int, perStatement: Int
    ) async throws(StorageFault) -> [StoredEvent] {
        var (events, size): ([StoredEvent], Int) = ([], 0)
        while events.count < limit, events.isEmpty || size < bytes {
            let room = min(limit - events.count, perStatement)
            let count = min(room, Self.expectedEvents(in: bytes - size, after: events.count, size: size))
            let after = events.last?.seq ?? seq
            let page = try await Self.events(
                in: query(Call(.eventsWithin, stream, after, count, max(1, bytes - size))))
            size += page.payloadBytes
            events += page
            if page.count < count { break }
        }
        return events
    }

    /// The number of events that probably fill `bytes`, judged by the `count` before them; few where none were read, and
    /// at most four times as many as have been read.
    private static func expectedEvents(in bytes: Int, after count: Int, size: Int) -> Int {
        guard count > 0 else { return 4 }
        return min(4 * count, max(1, bytes / max(1, size / count)))
    }

    package func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead] {
        let answer = try await query(Call(.heads, streams))
        var heads: [UUID: StreamHead] = [:]
        for row in answer.rows {
            heads[try answer.uuid(row, 4)] = try Self.head(in: answer, row)
        }
        return heads
    }

    package func renew(_ renewal: EpochRenewal, replacing epoch: String) async throws(StorageFault) -> Bool {
        let call = Call(.renewEpoch, renewal.stream, epoch, renewal.epoch, renewal.checksum)
        return try await write([call]).last?.rows.count == 1
    }

    /// The head in the first four columns.
    static func head(in answer: PostgresResult, _ row: Int) throws(StorageFault) -> StreamHead {
        try StreamHead(
            epoch: answer.text(row, 0),
            version: StreamVersion(
                seq: answer.int(row, 1), keyed: answer.int(row, 2), tail: answer.optionalInt(row, 3).map(Int64.init)))
    }

    package func snapshot(
        of stream: UUID, atMost seq: Int, reducerVersion: Int
    ) async throws(StorageFault) -> StoredSnapshot? {
        try await Self.snapshot(
            in: query(Call(.snapshot, stream, reducerVersion, seq)), reducerVersion: reducerVersion)
    }

    package func attachment(_ name: String, of stream: UUID) async throws(StorageFault) -> [UInt8]? {
        let answer = try await query(Call(.attachment, stream, name))
        return try answer.rows.first.map { (row) throws(StorageFault) in try answer.bytes(row, 0) }
    }

    package func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault) {
        let answers = try await write([
            Call(.lockForSnapshot, stream, epoch),
            Call(
                .saveSnapshot, stream, snapshot.seq, snapshot.reducerVersion, Binary(snapshot.state),
                snapshot.checksum, epoch, snapshot.start(ofSpan: span)),
        ])
        guard answers.last?.affectedRows == 1 else { throw .rejected(.refusedSnapshot) }
    }

    static func events(in answer: PostgresResult) throws(StorageFault) -> [StoredEvent] {
        try answer.rows.map { (row) throws(StorageFault) in
            try StoredEvent(
                seq: answer.int(row, 0), at: Int64(answer.int(row, 1)), type: answer.text(row, 2),
                payload: answer.json(row, 3), checksum: answer.optionalInt(row, 4).map(Int64.init))
        }
    }

    static func keys(in answer: PostgresResult) throws(StorageFault) -> [CommandKey] {
        try answer.rows.map { (row) throws(StorageFault) in
            try CommandKey(
                ordinal: answer.int(row, 0), session: answer.uuid(row, 1), key: answer.text(row, 2),
                fingerprint: Int64(answer.int(row, 3)), seq: answer.int(row, 4), result: answer.optionalJSON(row, 5),
                checksum: answer.optionalInt(row, 6).map(Int64.init))
        }
    }

    static func snapshot(
        in answer: PostgresResult, reducerVersion: Int
    ) throws(StorageFault) -> StoredSnapshot? {
        guard let row = answer.rows.first else { return nil }
        return try StoredSnapshot(
            seq: answer.int(row, 0), reducerVersion: reducerVersion, state: answer.bytes(row, 1),
            checksum: answer.optionalInt(row, 2).map(Int64.init))
    }
}
