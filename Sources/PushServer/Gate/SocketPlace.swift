import RoomWire

/// What a socket's path names.
enum SocketPlace: Equatable {
    /// A path without a room: none yet.
    case open
    /// A path with a room; nil where the text can be no room's.
    case room(RoomReference?)

    /// Nil where the path is none of ``Routes/sockets``.
    init?(path: Substring) {
        guard let route = Routes.sockets.first(where: { $0.matches(path) }) else { return nil }
        self = route.parameter("room", in: path).map { .room(RoomReference(String($0))) } ?? .open
    }
}
