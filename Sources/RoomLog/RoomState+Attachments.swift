package import EventStorage
package import RoomDomain

extension RoomState {
    /// The changes of waveforms' rows that belong to the events of a command; this is the state after them.
    ///
    /// `given` is the waveform that the command brings, and `taken` are those that its events took from tracks
    /// (``RoomState/waveforms(takenBy:)``). A waveform that no track has any more is marked with the time, and deleted a
    /// day later. A waveform that a track gets is always written, even if it has a row.
    package func attachmentChanges(
        given: Waveform?, taken: Set<WaveformName>
    ) -> [AttachmentChange] {
        var changes = unnamedWaveforms(among: taken).sorted().map { name in
            AttachmentChange(name: name.description, bytes: nil, unneededSince: lastEventAt.milliseconds)
        }
        if let given { changes.append(AttachmentChange(name: given.name.description, bytes: given.data)) }
        return changes
    }
}
