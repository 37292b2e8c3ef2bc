package import EventStorage
package import RoomDomain

extension DirectoryEntry {
    /// The directory's entry for a room.
    package init(of state: RoomState) {
        let owner = state.members.values.first { $0.role == .owner }
        let playing = state.onAir.flatMap { state.tracks[$0.track]?.info }
        self.init(
            code: state.code.description, name: state.name, isPublic: state.visibility == .public,
            location: state.location, createdAt: state.createdAt.milliseconds, closedAt: state.closedAt?.milliseconds,
            owner: owner?.session.uuid, djName: state.isForgotten ? nil : owner?.name,
            nowPlayingTitle: playing?.title, nowPlayingArtist: playing?.artist)
    }
}
