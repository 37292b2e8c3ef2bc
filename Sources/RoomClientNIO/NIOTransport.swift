import NIOCore
import NIOHTTP1
import NIOPosix
public import RoomClient
import TLSTransport
import WebSocketCodec

/// How a client reaches its server where there is no `URLSession` with WebSockets: on Linux.
///
/// Connections use HTTP/1.1 over TLS 1.2 or newer, with the system's OpenSSL and the project's own WebSocket layer, on
/// the threads that all of SwiftNIO shares (`MultiThreadedEventLoopGroup.singleton`). A server without TLS is reached
/// in plain text, which ``RoomClient/ServerAddress`` allows on this machine only.
///
/// - Connecting: of a host with several addresses, the first one that answers is used (RFC 8305). A connection must be
///   made within 10 s, a WebSocket be open within 20 s, a request be answered within 30 s. Proxies are not used.
/// - Cancelling: the end of the calling task ends an attempt or a request at once and closes its connection. The fault
///   that is thrown then has a `CancellationError` as its cause.
/// - Requests: a connection is kept for 5 s after an answer. Only a request that may be repeated uses one again: GET,
///   HEAD, and one with an `idempotency-key`.
/// - Sockets: see ``connect(_:)``.
public final class NIOTransport: ClientTransport {
    /// How the transport makes sure that it talks to the right server.
    public enum Trust: Sendable, Hashable {
        /// By the system's certificate authorities, and the host's name.
        ///
        /// They are OpenSSL's: those of its directory, or those that the environment's `SSL_CERT_FILE` and
        /// `SSL_CERT_DIR` name.
        case system
        /// By the system's certificate authorities and those in this PEM file, and the host's name.
        case systemAnd(file: String)
        /// By the certificate authorities in this PEM file alone, and the host's name.
        case authority(file: String)
        /// By nothing: anybody in between can read and change everything. For development.
        case insecure
    }

    /// The longest message and the longest answer: 16 MiB, ten times a snapshot of the largest room.
    static let mostBytes = 16 * 1024 * 1024

    private let dialer: Dialer
    private let idle: IdleConnection

    /// Makes a transport; blocks while it reads the certificates.
    ///
    /// - Throws: A lasting fault if the file of certificates cannot be used.
    public convenience init(trust: Trust = .system) throws(TransportFault) {
        try self.init(trust: trust, times: Times())
    }

    /// Makes a transport with other times, for tests.
    init(trust: Trust, times: Times) throws(TransportFault) {
        dialer = try Dialer(trust: trust, times: times)
        idle = IdleConnection(lasting: times.idle)
    }

    /// Sends one request and returns the whole answer.
    ///
    /// The transport sets `host`, `content-length` and `connection` itself, and `user-agent` if the request has none. An
    /// answer of more than 16 MiB is a fault.
    ///
    /// - Throws: A fault if there is no answer. It is lasting if the server's certificate is not trusted, or if the
    ///   request cannot be sent as it is.
    public func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        let outgoing = try OutgoingRequest(request)
        if outgoing.isRepeatable, let channel = idle.take(for: request.server),
            let response = try await send(outgoing, again: channel)
        {
            return response
        }
        let answer: RequestHandler.Answer = try await dialer.connect(
            to: request.server, within: dialer.times.request
        ) { channel, promise in
            try channel.pipeline.syncOperations.addHandlers(
                HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder()), RequestHandler())
            channel.writeAndFlush(RequestHandler.Exchange(request: outgoing, answer: promise), promise: nil)
        }
        if let channel = answer.channel { idle.keep(channel, for: request.server) }
        return answer.response
    }

    /// Sends a request on a connection that has had an answer; nil if the server closed it before it answered this one.
    private func send(
        _ request: OutgoingRequest, again channel: any Channel
    ) async throws(TransportFault) -> ClientResponse? {
        do {
            let answer: RequestHandler.Answer = try await dialer.wait(
                on: channel.eventLoop, for: request.server, within: dialer.times.request
            ) { promise in
                channel.writeAndFlush(RequestHandler.Exchange(request: request, answer: promise), promise: nil)
            }
            if let kept = answer.channel { idle.keep(kept, for: request.server) }
            return answer.response
        } catch is RequestHandler.Unanswered {
            return nil
        } catch {
            channel.close(promise: nil)
            throw TransportFault(error, at: request.server)
        }
    }

    /// Opens a WebSocket.
    ///
    /// - Reading: the socket reads ahead of ``RoomClient/ClientSocket/receive()`` until messages of 256 KiB wait, so
    ///   that pings are answered while nobody asks. Then it stops, and with it the server. A message has at most 16 MiB;
    ///   one that is longer, or not text, is a violation, which closes the socket.
    /// - Sending: `send` returns when the system has taken the message for the server. If the calling task is cancelled,
    ///   it throws, and the message may go out all the same.
    /// - Closing: `close` takes at most 3 s. Messages that arrive after it are dropped. A code that RFC 6455 does not
    ///   allow in a Close frame is left out. A socket that nobody holds any more is closed without a close handshake.
    /// - Loss: a connection that ends without a Close frame makes `receive` throw, after the messages before it.
    ///
    /// Messages are compressed (RFC 7692) if the server agrees.
    ///
    /// - Throws: A fault, with the server's answer and up to 64 KiB of its body if it refused the handshake.
    public func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        let outgoing = try OutgoingRequest(request)
        guard let handshake = outgoing.handshake(subprotocol: OpeningHandler.subprotocol) else {
            throw TransportFault("a socket is opened with GET and without a body", isLasting: true)
        }
        let times = dialer.times
        let socket: NIOSocket = try await dialer.connect(to: request.server, within: times.opening) {
            channel, promise in
            try channel.pipeline.syncOperations.addHandler(
                OpeningHandler(handshake, to: request.server, closingWithin: times.close, opened: promise))
        }
        return socket
    }
}
