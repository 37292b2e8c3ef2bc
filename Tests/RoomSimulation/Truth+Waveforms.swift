import EventStorage
import RoomDomain

extension Truth {
    /// Compares the waveforms that the log holds at this instant with those that the rooms' tracks have.
    ///
    /// It is called after each write: a server that crashes at any point leaves such a log.
    func checkWaveforms(in log: MemoryEventStore) async throws(StorageFault) {
        for id in rooms {
            let named = Set(roomState(id).waveformNames.map(\.description))
            let held = try await log.archived(id.uuid)?.attachments ?? []
            let needed = Set(held.filter { $0.unneededSince == nil }.map(\.name))
            if let lost = named.subtracting(needed).min() {
                complain("a track of \(id) has the waveform \(lost), which is lost or about to be")
            }
            if let kept = needed.subtracting(named).min() {
                complain("no track of \(id) has the waveform \(kept), which is kept for ever")
            }
        }
    }

    /// Whether a track of a room has had a waveform after each of these events.
    func has(_ waveform: WaveformName, in id: RoomID, during events: ClosedRange<Int>) -> Bool {
        guard let states = room(id)?.states, states.indices.contains(events.upperBound) else { return false }
        return states[events].allSatisfy { $0.waveformNames.contains(waveform) }
    }
}
