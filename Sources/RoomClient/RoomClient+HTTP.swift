import RoomDomain
import RoomWire

/// What needs no socket: one request, one answer.
extension RoomClient {
    /// Makes a room, of which one is the owner.
    ///
    /// A request without an answer is sent again under the same key, a few times within some ten seconds: one room is
    /// made, however often. A name has 1 to 80 characters, and the server rounds the location. Without a visibility or
    /// settings, the room has the server's defaults. A key belongs to one room, however often the call is repeated
    /// within a day.
    public func create(
        name: String, location: Location? = nil, visibility: Visibility? = nil, settings: RoomSettings? = nil,
        key: CommandKey = .random()
    ) async throws(ClientError) -> RoomReference { try await created(name, location, visibility, settings, key).0 }

    /// Makes a room as ``create(name:location:visibility:settings:key:)`` does, and tells its code too.
    public func createRoom(
        name: String, location: Location? = nil, visibility: Visibility? = nil, settings: RoomSettings? = nil,
        key: CommandKey = .random()
    ) async throws(ClientError) -> (room: RoomReference, code: String) {
        try await created(name, location, visibility, settings, key)
    }

    private func created(
        _ name: String, _ location: Location?, _ visibility: Visibility?, _ settings: RoomSettings?, _ key: CommandKey
    ) async throws(ClientError) -> (RoomReference, String) {
        let request = CreateRoomRequest(
            name: name, location: location?.domain, visibility: visibility?.domain,
            settings: settings?.update() ?? SettingsUpdate())
        let body = try await persistently { () async throws(ClientError) in
            try await engine.session.send("POST", "/v1/rooms", body: request.encoded(), key: key)
        }
        let answer = try Self.read { () throws(ServerViolation) in try HTTPBody.RoomAnswer.parse(body) }
        return (RoomReference(RoomID(answer.state.id)), answer.state.code.description)
    }

    /// The rooms in a circle at this moment, nearest first.
    public func rooms(near circle: Circle) async throws(ClientError) -> [RoomSummary] {
        if let violation = circle.violation { throw violation }
        let center = circle.center
        return try await list(
            "/v1/rooms/nearby?lat=\(center.latitude)&lon=\(center.longitude)&radiusMeters=\(circle.radius)"
                + "&limit=\(circle.limit)")
    }

    /// The open rooms of which one is a member, the one joined last first.
    public func rooms() async throws(ClientError) -> [RoomSummary] { try await list("/v1/session/rooms") }

    private func list(_ target: String) async throws(ClientError) -> [RoomSummary] {
        let body = try await engine.session.send("GET", target)
        return try Self.read { () throws(ServerViolation) in try HTTPBody.RoomsAnswer.parse(body) }
            .rooms.map { RoomSummary($0) }
    }

    /// The waveform of a track of a room.
    ///
    /// A name always stands for the same waveform, so it may be kept for ever.
    public func waveform(_ name: WaveformName, of room: RoomReference) async throws(ClientError) -> Waveform {
        let body = try await engine.session.send(
            "GET", "/v1/rooms/\(room.description)/waveforms/\(name.description)", accepts: "application/octet-stream")
        guard let waveform = RoomDomain.Waveform(data: body) else {
            throw ClientError(.unreadable, "the server's answer is no waveform")
        }
        return Waveform(waveform)
    }

    /// The session's token, which another program may be signed in with; a guest's session is made if there is none.
    public func token() async throws(ClientError) -> String { try await engine.session.currentToken() }

    private static func read<Value>(_ body: () throws(ServerViolation) -> Value) throws(ClientError) -> Value {
        do throws(ServerViolation) {
            return try body()
        } catch {
            throw ClientError(.unreadable, "the server's answer could not be read", cause: error)
        }
    }

    /// Tries a few times where the server cannot be reached or asks to wait a little.
    private func persistently(
        _ body: () async throws(ClientError) -> [UInt8]
    ) async throws(ClientError) -> [UInt8] {
        var wait = Duration.milliseconds(250)
        for _ in 0..<5 {
            do throws(ClientError) {
                return try await body()
            } catch {
                let asked = error.retryAfter ?? .zero
                let isPassing = [.unavailable, .outcomeUnknown, .rateLimited, .internal].contains(error.code)
                let isLasting = (error.cause as? TransportFault)?.isLasting ?? false
                guard isPassing, asked <= .seconds(5), !isLasting else { throw error }
                let pause = max(asked, wait * Double.random(in: 0...1))
                guard (try? await engine.clock.sleep(until: engine.clock.uptime + pause)) != nil else { throw error }
                wait *= 2
            }
        }
        return try await body()
    }
}
