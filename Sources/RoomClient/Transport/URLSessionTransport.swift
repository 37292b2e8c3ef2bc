#if canImport(Darwin) || TYPE_CHECK_APPLE
    import Foundation

    /// How a client reaches its server on Apple's platforms: by one `URLSession` for the transport's life.
    ///
    /// The system decides whom it trusts. Nothing is cached, no cookie is kept, and no redirect is followed, so that a
    /// token reaches no other host.
    public final class URLSessionTransport: ClientTransport {
        /// The longest message and the longest answer: 16 MiB, ten times a snapshot of the largest room.
        ///
        /// The system's own limit of 1 MiB is less than such a snapshot.
        private static let mostBytes = 16 * 1024 * 1024
        private static let subprotocol = "backline.v1.json"
        /// In seconds: more than the 25 after which the server sends something.
        private static let timeout = 60.0

        private let delegate = SocketDelegate()
        private let session: URLSession

        /// A transport.
        public init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = Self.timeout
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        // A session keeps its delegate, its threads and its connections until it is invalidated.
        deinit { session.invalidateAndCancel() }

        /// Sends one request.
        public func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
            let authority = request.server.authority
            let answer: (body: Data, head: URLResponse)
            do {
                answer = try await session.data(for: Self.request(request, scheme: "http"), delegate: delegate)
            } catch {
                throw Self.fault(error, authority)
            }
            guard let head = answer.head as? HTTPURLResponse, answer.body.count <= Self.mostBytes else {
                throw TransportFault("\(authority): its answer is too long, or none of HTTP")
            }
            return ClientResponse(status: head.statusCode, body: [UInt8](answer.body))
        }

        /// Opens a WebSocket.
        public func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
            let authority = request.server.authority
            var opening = try Self.request(request, scheme: "ws")
            opening.setValue(Self.subprotocol, forHTTPHeaderField: "Sec-WebSocket-Protocol")
            let task = session.webSocketTask(with: opening)
            task.maximumMessageSize = Self.mostBytes
            let life = delegate.follow(task)
            let socket = URLSessionSocket(task, life)
            task.resume()
            do {
                for try await subprotocol in life.opening {
                    guard subprotocol == Self.subprotocol else {
                        throw TransportFault("\(authority) does not speak this protocol")
                    }
                    return socket
                }
            } catch {
                throw Self.fault(error, authority, response: Self.refusal(of: task))
            }
            throw TransportFault("the attempt was cancelled")
        }

        /// The answer to a handshake that was refused.
        private static func refusal(of task: URLSessionTask) -> ClientResponse? {
            guard let head = task.response as? HTTPURLResponse, head.statusCode != 101 else { return nil }
            return ClientResponse(
                refusal: head.statusCode, type: head.value(forHTTPHeaderField: "Content-Type"),
                retryAfter: head.value(forHTTPHeaderField: "Retry-After"))
        }

        private static func request(_ request: ClientRequest, scheme: String) throws(TransportFault) -> URLRequest {
            let text = "\(scheme)\(request.server.isSecure ? "s" : "")://\(request.server.authority)\(request.target)"
            guard let url = URL(string: text, encodingInvalidCharacters: false) else {
                throw TransportFault("\"\(request.target)\" cannot stand in a request", isLasting: true)
            }
            var made = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: timeout)
            made.httpMethod = request.method
            for (name, value) in request.fields { made.setValue(value, forHTTPHeaderField: name) }
            made.httpBody = request.body.map { Data($0) }
            return made
        }

        private static func fault(
            _ error: any Error, _ authority: String, response: ClientResponse? = nil
        ) -> TransportFault {
            if let fault = error as? TransportFault { return fault }
            let lasting: [URLError.Code] = [
                .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
                .serverCertificateNotYetValid, .appTransportSecurityRequiresSecureConnection,
            ]
            let isLasting = (error as? URLError).map { lasting.contains($0.code) } ?? false
            return TransportFault(
                "\(authority): \(error.localizedDescription)", response: response, isLasting: isLasting, cause: error)
        }
    }
#endif
