import FoundationEssentials

@testable import EventStorage

extension MemoryEventStore {
    /// Takes a stream back to its first `seq` events, as a database that lacks its last commits; the rest stays.
    func cut(_ stream: UUID, to seq: Int) {
        guard var cut = streams[stream] else { return }
        cut.events.removeAll { $0.seq > seq }
        cut.keys.removeAll { $0.seq > seq }
        cut.snapshots = cut.snapshots.filter { $0.key <= seq }
        cut.head.version = StreamVersion(
            seq: seq, keyed: cut.keys.last?.ordinal ?? 0, tail: cut.events.last?.checksum)
        streams[stream] = cut
    }
}
