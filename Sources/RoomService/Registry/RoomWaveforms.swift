import EventStorage
package import RoomDomain

/// The waveforms of rooms' tracks, as the log stores them; may be used on any thread.
package struct RoomWaveforms: Sendable {
    private let registry: RoomRegistry
    private let store: any EventStore

    init(registry: RoomRegistry) {
        self.registry = registry
        store = registry.dependencies.store
    }

    /// Returns the bytes of a waveform, for a session that may look at the room; nil if the room has none of this name.
    ///
    /// A waveform that no track has any more is returned until it is deleted, a day later: a client may still follow
    /// events from before.
    package func data(
        of waveform: WaveformName, in room: RoomID, for session: SessionID
    ) async throws(RoomFailure) -> [UInt8]? {
        try await registry.withRoom(room, for: session) { _ in }
        do throws(StorageFault) {
            return try await store.attachment(waveform.description, of: room.uuid)
        } catch {
            throw RoomFailure(error)
        }
    }
}
