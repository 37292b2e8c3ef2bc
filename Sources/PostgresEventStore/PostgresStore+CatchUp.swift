package import EventStorage
package import FoundationEssentials

extension PostgresStore {
    package func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream] {
        let streams = Array(positions.keys)
        let versions = streams.map { positions[$0] ?? .start }
        // One snapshot of the database for all of them.
        let calls = [
            Call(.beginReading), Call(.heads, streams), Call(.newEvents, streams, versions.map(\.seq)),
            Call(.newKeys, streams, versions.map(\.keyed)), Call(.commit),
        ]
        let answers = try await pool.run(.calls(calls), isWrite: false)
        guard answers.count == calls.count else { throw .corrupt(.init(message: "a catch-up lacks answers")) }
        var found: [UUID: LoadedStream] = [:]
        let heads = answers[1]
        for row in heads.rows {
            found[try heads.uuid(row, 0)] = try LoadedStream(
                head: StreamHead(
                    epoch: heads.text(row, 1), version: StreamVersion(seq: heads.int(row, 2), keyed: heads.int(row, 3))),
                snapshot: nil, events: [], keys: [])
        }
        let events = answers[2]
        for row in events.rows {
            try found[events.uuid(row, 0)]?.events.append(
                StoredEvent(
                    seq: events.int(row, 1), at: Int64(events.int(row, 2)), type: events.text(row, 3),
                    payload: events.json(row, 4)))
        }
        let keys = answers[3]
        for row in keys.rows {
            try found[keys.uuid(row, 0)]?.keys.append(
                CommandKey(
                    ordinal: keys.int(row, 1), session: keys.uuid(row, 2), key: keys.text(row, 3),
                    fingerprint: Int64(keys.int(row, 4)), seq: keys.int(row, 5), result: keys.optionalJSON(row, 6)))
        }
        return found
    }
}
