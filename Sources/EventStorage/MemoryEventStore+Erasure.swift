package import FoundationEssentials

extension MemoryEventStore {
    package func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID] {
        let closed = streams.compactMap { stream, stored in
            stored.entry.closedAt.flatMap { $0 < instant ? (closedAt: $0, stream: stream) : nil }
        }
        let removed = closed.sorted { ($0.closedAt, $0.stream) < ($1.closedAt, $1.stream) }.prefix(max(0, limit))
        for (_, stream) in removed {
            remove(stream)
        }
        return removed.map(\.stream)
    }

    /// Nothing is left of what was removed.
    package func sweep(limit: Int) async throws(StorageFault) -> Bool { false }

    package func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID] {
        let asked = streams.compactMap { stream, stored in
            stored.forgottenAt == nil ? stored.forgetAt.map { (at: $0, stream: stream) } : nil
        }
        return asked.sorted { ($0.at, $0.stream) < ($1.at, $1.stream) }.prefix(max(0, limit)).map(\.stream)
    }

    package func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault) {
        guard let stored = streams[stream], stored.forgetAt != nil else { return }
        for event in events where stored.events.indices.contains(event.seq - 1) {
            streams[stream]?.events[event.seq - 1].payload = event.payload
            streams[stream]?.events[event.seq - 1].checksum = event.checksum
        }
        streams[stream]?.snapshots = [:]
    }

    package func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault) {
        let stream = renewal.stream
        guard let stored = streams[stream], stored.forgetAt != nil, stored.forgottenAt == nil else { return }
        streams[stream]?.head.epoch = renewal.epoch
        streams[stream]?.checksum = renewal.checksum
        streams[stream]?.snapshots = [:]
        for place in stored.keys.indices {
            streams[stream]?.keys[place].fingerprint = CommandKey.forgotten
            streams[stream]?.keys[place].checksum = nil
        }
        for (key, creation) in creations where creation.stream == stream {
            creations[key]?.fingerprint = CommandKey.forgotten
        }
        streams[stream]?.forgottenAt = now
    }

    private func remove(_ stream: UUID) {
        guard let stored = streams.removeValue(forKey: stream) else { return }
        streamsByCode[stored.entry.code]?.remove(stream)
        creations = creations.filter { $0.value.stream != stream }
        for session in memberships.keys {
            memberships[session]?.remove(stream)
        }
    }
}
