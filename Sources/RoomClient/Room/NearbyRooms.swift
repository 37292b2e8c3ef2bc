public import Observation

/// The rooms in a circle, nearest first, as they come, change and go.
///
/// The circle is watched for as long as somebody holds the object.
@MainActor @Observable public final class NearbyRooms {
    /// The circle.
    public nonisolated let circle: Circle
    /// The rooms, nearest first; nil before the server has told.
    public private(set) var rooms: [RoomSummary]?
    /// Why the circle is watched no more; nil while it is.
    public private(set) var error: ClientError?

    @ObservationIgnored let number: Int
    @ObservationIgnored let engine: ClientEngine

    init(_ circle: Circle, number: Int, _ engine: ClientEngine) {
        self.circle = circle
        self.number = number
        self.engine = engine
    }

    deinit { engine.unwatch(number) }

    func take(_ rooms: [RoomSummary]) { self.rooms = rooms }

    func ended(_ error: ClientError) { self.error = error }
}

/// A circle as the engine has it.
struct WeakCircle {
    weak var rooms: NearbyRooms?
}
