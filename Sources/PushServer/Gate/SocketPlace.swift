import RoomWire

/// The target of a socket's path.
enum SocketPlace: Equatable {
    /// A path without a room.
    case open
    /// A path with a room; nil if its text cannot name a room.
    case room(RoomReference?)

    /// Reads a path; nil if it is none of ``Routes/sockets``.
    init?(path: Substring) {
        guard let route = Routes.sockets.first(where: { $0.matches(path) }) else { return nil }
        self = route.parameter("room", in: path).map { .room(RoomReference(String($0))) } ?? .open
    }
}
