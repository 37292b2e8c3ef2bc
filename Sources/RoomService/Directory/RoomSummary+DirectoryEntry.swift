import EventStorage
import RoomDomain
import RoomWire

extension RoomSummary {
    init(_ room: RoomID, _ entry: DirectoryEntry, listeners: Int) {
        self.init(
            id: room, code: RoomCode(entry.code) ?? .zero, name: entry.name, location: entry.location,
            listeners: listeners, djName: entry.djName,
            nowPlaying: entry.nowPlayingTitle.map { NowPlaying(title: $0, artist: entry.nowPlayingArtist) },
            createdAt: Timestamp(milliseconds: entry.createdAt), distanceMeters: nil)
    }
}
