import NIOCore
import NIOHTTP1
import NIOPosix
import RoomClient
import TLSTransport
import WebSocketCodec

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension TransportFault {
    /// The end of the task that waited.
    static var cancelled: Self { Self("the task was cancelled", cause: CancellationError()) }

    /// Why a server was not reached, in a sentence for the person in front of the device.
    init(_ error: any Error, at server: ServerAddress) {
        let name = server.authority
        switch error {
        case let fault as TransportFault: self = fault
        case let unanswered as RequestHandler.Unanswered: self.init(unanswered.cause, at: server)
        case let fault as TLSFault: self.init(fault, server)
        case let violation as HandshakeViolation:
            self.init("\(name) does not speak this protocol: \(violation.detail)", cause: violation)
        case let error as NIOConnectionError: self.init(error, server)
        case is CancellationError: self = .cancelled
        case ChannelError.connectTimeout: self.init("\(name) does not answer", cause: error)
        case is ChannelError: self.init("\(name) closed the connection", cause: error)
        case let error as IOError: self.init("\(name) cannot be reached: \(Self.reason(error))", cause: error)
        case is HTTPParserError, is NIOHTTPDecoderError:
            self.init("\(name) does not speak HTTP: \(error)", cause: error)
        default: self.init("\(name) cannot be reached: \(error)", cause: error)
        }
    }

    private init(_ fault: TLSFault, _ server: ServerAddress) {
        switch fault {
        case .certificateRejected(let rejection):
            self.init(Self.reason(rejection, server), isLasting: true, cause: fault)
        case .fingerprintMismatch, .invalidHostName:
            self.init("\(server.host) cannot be trusted: \(fault)", isLasting: true, cause: fault)
        case .closedDuringHandshake, .truncated:
            self.init("\(server.authority) closed the connection", cause: fault)
        case .handshake, .record, .unreadReplies, .setup, .file, .invalidCertificate, .invalidPrivateKey, .keyMismatch,
            .notDevelopmentCertificate, .notRegularFile, .certificateNotValidNow:
            self.init("no encrypted connection to \(server.authority): \(fault)", cause: fault)
        }
    }

    private init(_ error: NIOConnectionError, _ server: ServerAddress) {
        guard let last = error.connectionErrors.last else {
            self.init("there is no host \(server.host), or its name cannot be looked up", cause: error)
            return
        }
        self.init("\(server.authority) cannot be reached: \(Self.reason(last.error))", cause: error)
    }

    private static func reason(_ rejection: CertificateRejection, _ server: ServerAddress) -> String {
        switch rejection.kind {
        case .expired: "the certificate of \(server.host) has expired"
        case .notYetValid: "the certificate of \(server.host) is not valid yet; is this device's clock right?"
        case .unknownAuthority: "the certificate of \(server.host) is signed by an authority that is not trusted here"
        case .otherName: "the certificate that \(server.host) shows is for another name"
        case .other: "the certificate of \(server.host) is not accepted: \(rejection)"
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return switch error.errnoCode {
        case ECONNREFUSED: "nothing listens there"
        case ECONNRESET, EPIPE: "it closed the connection"
        case ETIMEDOUT: "no answer"
        case EHOSTUNREACH, ENETUNREACH: "there is no way to it"
        default: "\(error)"
        }
    }
}
