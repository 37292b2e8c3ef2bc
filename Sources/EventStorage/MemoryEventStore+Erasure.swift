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

    /// Nothing to sweep: removing a stream removes all of it.
    package func sweep(limit: Int) async throws(StorageFault) -> Bool { false }

    package func removeAttachments(
        unneededSinceBefore instant: Int64, limit: Int
    ) async throws(StorageFault) -> Int {
        var removed = 0
        for stream in streams.keys.sorted() {
            let unneeded = streams[stream]?.attachments.filter { $0.value.unneededSince.map { $0 < instant } ?? false }
            for name in (unneeded ?? [:]).keys.sorted().prefix(max(0, limit) - removed) {
                streams[stream]?.attachments[name] = nil
                removed += 1
            }
        }
        return removed
    }

    package func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID] {
        let asked = streams.compactMap { stream, stored in
            stored.forgottenAt == nil ? stored.forgetAt.map { (at: $0, stream: stream) } : nil
        }
        return asked.sorted { ($0.at, $0.stream) < ($1.at, $1.stream) }.prefix(max(0, limit)).map(\.stream)
    }

    package func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing] {
        let asked = streams.compactMap { stream, stored -> StreamClearing? in
            guard let clearing = stored.clearing, stored.cleared < clearing, stored.forgetAt == nil else { return nil }
            return StreamClearing(stream: stream, cleared: stored.cleared, clearing: clearing)
        }
        let following = asked.filter { clearing in after.map { clearing.stream > $0 } ?? true }
        return Array(following.sorted { $0.stream < $1.stream }.prefix(max(0, limit)))
    }

    package func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault) {
        guard let stored = streams[stream], let clearing = stored.clearing else { return }
        replace(events, of: stream)
        streams[stream]?.snapshots = stored.snapshots.filter { $0.key >= clearing }
        forgetCommands(of: stream, before: clearing)
        streams[stream]?.cleared = max(stored.cleared, min(seq, clearing))
    }

    private func replace(_ events: [StoredEvent], of stream: UUID) {
        guard let stored = streams[stream] else { return }
        for event in events where stored.events.indices.contains(event.seq - 1) {
            streams[stream]?.events[event.seq - 1].payload = event.payload
            streams[stream]?.events[event.seq - 1].checksum = event.checksum
        }
    }

    /// Removes the fingerprints that would confirm a guess of a command's contents.
    private func forgetCommands(of stream: UUID, before seq: Int) {
        guard let stored = streams[stream] else { return }
        for place in stored.keys.indices where stored.keys[place].seq < seq {
            streams[stream]?.keys[place].fingerprint = CommandKey.forgotten
            streams[stream]?.keys[place].checksum = nil
        }
        for (key, creation) in creations where creation.stream == stream {
            creations[key]?.fingerprint = CommandKey.forgotten
        }
    }

    package func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault) {
        guard let stored = streams[stream], stored.forgetAt != nil else { return }
        replace(events, of: stream)
        streams[stream]?.refreshTail()
        streams[stream]?.snapshots = [:]
        exclude(stream)
    }

    package func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault) {
        let stream = renewal.stream
        guard let stored = streams[stream], stored.forgetAt != nil, stored.forgottenAt == nil else { return }
        streams[stream]?.renew(renewal)
        streams[stream]?.snapshots = [:]
        forgetCommands(of: stream, before: .max)
        streams[stream]?.forgottenAt = now
        exclude(stream)
    }

    private func remove(_ stream: UUID) {
        guard let stored = streams.removeValue(forKey: stream) else { return }
        if counted.removeValue(forKey: stream) != nil { forgetUnnamed() }
        streamsByCode[stored.entry.code]?.remove(stream)
        creations = creations.filter { $0.value.stream != stream }
        for session in memberships.keys {
            memberships[session]?.remove(stream)
        }
    }
}
