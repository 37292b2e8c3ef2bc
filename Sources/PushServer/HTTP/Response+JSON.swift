import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Makes an answer of JSON.
    static func json(
        _ status: HTTPResponse.Status = .ok, _ body: [UInt8], type: String = "application/json"
    ) -> Response {
        Response(
            status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    static func json(_ body: [UInt8]) -> Response { json(.ok, body) }
}
