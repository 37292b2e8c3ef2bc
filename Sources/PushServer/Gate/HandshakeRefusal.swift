import NIOCore
import RoomWire
import WebSocketCodec

/// The answer to a request that neither opens a socket nor reaches the HTTP server; it ends the connection.
enum HandshakeRefusal: Error, Equatable {
    /// The request breaks HTTP/1 or RFC 6455.
    case violation(HandshakeViolation)
    /// The request is understood, and refused.
    case failure(CommandFailure)
    /// The page that sends it may open no sockets.
    case foreignOrigin(ForeignOrigin)
    /// The address has too many connections.
    case tooManyConnections

    /// The status of the answer.
    var status: Int {
        switch self {
        case .violation(let violation): violation.status
        case .failure(let failure): failure.code.httpStatus
        case .foreignOrigin(let foreign): foreign.failure.code.httpStatus
        case .tooManyConnections: Self.excess.code.httpStatus
        }
    }

    /// The bytes of the answer.
    ///
    /// The answer to HEAD has no body (RFC 9110 §9.3.2). `isSecure` says whether the server itself ends TLS.
    func bytes(isHead: Bool, isSecure: Bool) -> ByteBuffer {
        let body = body
        let standard = [
            HeaderField("Content-Type", "application/problem+json"), HeaderField("Content-Length", "\(body.count)"),
            HeaderField("Connection", "close"),
        ]
        let security = SecurityFields(isSecure: isSecure).headerFields
        var bytes = ByteBuffer()
        ResponseHead(status: status, fields: HeaderFields(standard.compactMap { $0 } + security + fields))
            .write(into: &bytes)
        if !isHead { bytes.writeBytes(body) }
        return bytes
    }

    private static let excess = CommandFailure(.rateLimited, "too many connections from this address")

    private var body: [UInt8] {
        switch self {
        case .violation(let violation):
            HTTPBody.problem(
                status: violation.status, code: violation.status == 405 ? .methodNotAllowed : .badRequest,
                title: violation.title, detail: violation.detail)
        case .failure(let failure): failure.problem
        case .foreignOrigin(let foreign): foreign.failure.problem
        case .tooManyConnections: Self.excess.problem
        }
    }

    private var fields: [HeaderField] {
        switch self {
        case .violation(let violation): violation.responseFields
        case .failure(let failure): Self.fields(failure)
        case .foreignOrigin(let foreign): Self.fields(foreign.failure)
        case .tooManyConnections: Self.fields(Self.excess)
        }
    }

    private static func fields(_ failure: CommandFailure) -> [HeaderField] {
        failure.fields.compactMap { HeaderField($0.name, $0.value) }
    }
}
