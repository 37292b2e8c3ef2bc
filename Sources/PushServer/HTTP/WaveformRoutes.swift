import HTTPTypes
import Hummingbird
import NIOCore
import RoomDomain
import RoomService
import RoomWire

/// The waveforms of a room's tracks over HTTP: bytes that never change, which a browser may keep.
struct WaveformRoutes: Sendable {
    let rooms: RoomHost
    let requests: RequestReader

    func show(_ request: Request, _ context: APIContext) async throws -> Response {
        let room = try await requests.room(of: request, context)
        guard let name = context.parameters.get("waveform").flatMap({ WaveformName($0) }) else {
            throw CommandFailure(.notFound, "no such waveform")
        }
        let data: [UInt8]?
        do {
            data = try await rooms.waveforms.data(of: name, in: room, for: context.session().id)
        } catch let failure as RoomFailure {
            throw CommandFailure(failure)
        }
        guard let data else { throw CommandFailure(.notFound, "no such waveform") }
        let tag = "\"\(name)\""
        guard !EntityTag.matches(tag, request.headers[values: .ifNoneMatch]) else {
            return Response(status: .notModified, headers: [.eTag: tag])
        }
        return Response(
            status: .ok, headers: [.contentType: "application/octet-stream", .eTag: tag],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }
}
