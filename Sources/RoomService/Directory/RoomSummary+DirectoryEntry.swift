import EventStorage
import GeoSearch
import RoomDomain
import RoomWire

extension RoomSummary {
    init(_ room: RoomID, _ entry: DirectoryEntry, listeners: Int) {
        var location: Coordinate?
        if let latitude = entry.latitude, let longitude = entry.longitude {
            location = Coordinate(latitude: latitude, longitude: longitude)
        }
        self.init(
            id: room, code: RoomCode(entry.code) ?? .zero, name: entry.name, location: location, listeners: listeners,
            djName: entry.djName,
            nowPlaying: entry.nowPlayingTitle.map { NowPlaying(title: $0, artist: entry.nowPlayingArtist) },
            createdAt: Timestamp(milliseconds: entry.createdAt), distanceMeters: nil)
    }
}
