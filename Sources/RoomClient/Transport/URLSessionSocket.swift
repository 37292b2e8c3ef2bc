#if canImport(Darwin) || TYPE_CHECK_APPLE
    import Foundation
    import Synchronization

    /// One open WebSocket of a `URLSession`, which answers pings by itself.
    final class URLSessionSocket: ClientSocket {
        private static let closeTimeout = Duration.seconds(3)

        private let task: URLSessionWebSocketTask
        private let life: SocketLife

        init(_ task: URLSessionWebSocketTask, _ life: SocketLife) {
            self.task = task
            self.life = life
        }

        deinit { task.cancel() }

        func receive() async throws(TransportFault) -> [UInt8]? {
            while true {
                do {
                    if case .string(let text) = try await task.receive() { return Array(text.utf8) }
                } catch {
                    await end()
                    if life.code != nil || task.closeCode != .invalid { return nil }
                    throw TransportFault("the connection was lost", cause: error)
                }
            }
        }

        func send(_ text: [UInt8]) async throws(TransportFault) {
            do {
                try await task.send(.string(String(decoding: text, as: UTF8.self)))
            } catch {
                throw TransportFault("the connection was lost", cause: error)
            }
        }

        func close(_ code: UInt16) async {
            task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .normalClosure, reason: nil)
            await end()
        }

        var closing: UInt16? {
            // RFC 6455 §7.4.1: 1005 and 1006 stand for no code.
            life.code.flatMap { [1_005, 1_006].contains($0) ? nil : UInt16(exactly: $0) }
        }

        /// Waits until the system has closed the connection, and closes it if that takes too long.
        private func end() async {
            await withTaskGroup { group in
                group.addTask { do { for try await _ in self.life.opening {} } catch {} }
                group.addTask { try? await Task.sleep(for: Self.closeTimeout) }
                await group.next()
                group.cancelAll()
            }
            task.cancel()
        }
    }

    /// What the system tells of one socket.
    final class SocketLife: Sendable {
        /// The subprotocol once the socket is open; ends with the socket.
        let opening: AsyncThrowingStream<String?, any Error>
        fileprivate let continuation: AsyncThrowingStream<String?, any Error>.Continuation
        private let closed = Mutex<Int?>(nil)

        init() { (opening, continuation) = AsyncThrowingStream.makeStream() }

        /// The code with which the server has closed the socket.
        fileprivate(set) var code: Int? {
            get { closed.withLock { $0 } }
            set { closed.withLock { $0 = newValue } }
        }
    }

    /// What the session tells of its sockets and requests.
    final class SocketDelegate: NSObject, URLSessionWebSocketDelegate {
        private let sockets = Mutex<[Int: SocketLife]>([:])

        /// Begins to follow a task that has not been started.
        func follow(_ task: URLSessionTask) -> SocketLife {
            let life = SocketLife()
            sockets.withLock { $0[task.taskIdentifier] = life }
            return life
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
        ) {
            _ = sockets.withLock { $0[webSocketTask.taskIdentifier] }?.continuation.yield(subprotocol)
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            sockets.withLock { $0[webSocketTask.taskIdentifier] }?.code = closeCode.rawValue
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            sockets.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.continuation.finish(throwing: error)
        }

        /// No redirect is followed: the answer that tells of it is the answer.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? { nil }
    }
#endif
