package import EventStorage
package import FoundationEssentials

extension PostgresStore {
    package func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream] {
        let streams = Array(positions.keys)
        let versions = streams.map { positions[$0] ?? .start }
        // All statements read one snapshot of the database.
        let calls = [
            Call(.beginReading), Call(.heads, streams), Call(.newEvents, streams, versions.map(\.seq)),
            Call(.newKeys, streams, versions.map(\.keyed)),
            Call(.otherTails, streams, versions.map(\.seq), versions.map(\.tail)), Call(.commit),
        ]
        let answers = try await pool.run(.calls(calls), isWrite: false)
        guard answers.count == calls.count else { throw .corrupt(.init(message: "a catch-up lacks answers")) }
        var found: [UUID: LoadedStream] = [:]
        let heads = answers[1]
        for row in heads.rows {
            let (stream, head) = try (heads.uuid(row, 4), Self.head(in: heads, row))
            let after = positions[stream] ?? .start
            let isAhead = after.seq > head.version.seq || after.keyed > head.version.keyed
            found[stream] = LoadedStream(head: head, snapshot: nil, events: [], keys: [], continues: !isAhead)
        }
        let events = answers[2]
        for (row, event) in zip(events.rows, try Self.events(in: events)) {
            try found[events.uuid(row, 5)]?.events.append(event)
        }
        let keys = answers[3]
        for (row, key) in zip(keys.rows, try Self.keys(in: keys)) {
            try found[keys.uuid(row, 7)]?.keys.append(key)
        }
        let others = try answers[4].uuids().filter { found[$0]?.continues == true }
        if !others.isEmpty {
            let seqs = others.map { positions[$0]?.seq ?? 0 }
            let rewritten = Set(try await query(Call(.rewritten, others, seqs)).uuids())
            for stream in others where !rewritten.contains(stream) { found[stream]?.continues = false }
        }
        return found
    }

    /// Makes the bus between the servers on this store's database, with a connection of its own.
    package func makeNodeBus() throws(StorageFault) -> PostgresNodeBus {
        try PostgresNodeBus(configuration)
    }
}
