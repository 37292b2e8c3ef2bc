import HTTPTypes
import Hummingbird
import NIOCore
import RoomService
import RoomWire

/// The server's own state: whether it is alive, whether it can take traffic, and its metrics.
struct ServerRoutes: Sendable {
    let rooms: RoomHost
    let isStopping: @Sendable () -> Bool
    /// Returns all metrics in Prometheus' text format 0.0.4.
    let metrics: @Sendable () async -> [UInt8]

    func health() -> Response { Response.json(HTTPBody.status("ok")) }

    func readiness() async throws -> Response {
        guard !isStopping() else { throw CommandFailure(ErrorCode.unavailable, "the server is stopping") }
        do {
            try await rooms.checkHealth()
        } catch {
            throw CommandFailure(ErrorCode.unavailable, "the event log is out of reach")
        }
        return Response.json(HTTPBody.status("ready"))
    }

    func measured() async -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: await metrics())))
    }

    func description() -> Response { Response.json(Array(APIDescription.json.utf8)) }
}
