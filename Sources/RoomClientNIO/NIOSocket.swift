import NIOCore
import RoomClient
import WebSocketCodec

/// One open WebSocket on a channel.
final class NIOSocket: ClientSocket {
    private let channel: any Channel
    private let handler: NIOLoopBound<SocketHandler>
    private let inbox: SocketInbox

    /// Makes the socket of a channel; call on its event loop.
    init(_ channel: any Channel, _ handler: SocketHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        inbox = handler.inbox
    }

    deinit { channel.close(promise: nil) }

    func receive() async throws(TransportFault) -> [UInt8]? {
        let (message, makesRoom) = try await inbox.next()
        if makesRoom { channel.eventLoop.execute { [handler] in handler.value.resume() } }
        return message
    }

    func send(_ text: [UInt8]) async throws(TransportFault) {
        if Task.isCancelled { throw TransportFault.cancelled }
        let promise = channel.eventLoop.makePromise(of: Void.self)
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.cascade(to: promise)
        channel.eventLoop.execute { [handler] in handler.value.send(text, promise: written) }
        do {
            try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                promise.fail(CancellationError())
            }
        } catch is CancellationError {
            throw TransportFault.cancelled
        } catch {
            throw TransportFault("the socket is closed", cause: error)
        }
    }

    func close(_ code: UInt16) async {
        let reason = CloseCode(rawValue: code).map { CloseReason($0) }
        channel.eventLoop.execute { [handler] in handler.value.close(reason) }
        try? await channel.closeFuture.get()
    }

    var closing: UInt16? { inbox.code }
}
