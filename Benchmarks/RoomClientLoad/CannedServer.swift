import RoomClient

/// A server that sends what it is given, and answers nothing.
final class CannedServer: ClientTransport {
    private let socket: CannedSocket

    init(sending messages: [[UInt8]]) {
        socket = CannedSocket()
        for message in messages { socket.push(message) }
    }

    func push(_ message: [UInt8]) { socket.push(message) }

    func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        throw TransportFault("nothing is answered")
    }

    func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket { socket }
}

/// The client's end of the one connection to a ``CannedServer``.
final class CannedSocket: ClientSocket {
    private let messages = AsyncStream.makeStream(of: [UInt8].self)

    func push(_ message: [UInt8]) { messages.continuation.yield(message) }

    func receive() async throws(TransportFault) -> [UInt8]? {
        for await message in messages.stream { return message }
        return nil
    }

    func send(_ text: [UInt8]) async throws(TransportFault) {}

    func close(_ code: UInt16) async { messages.continuation.finish() }

    var closing: UInt16? { nil }
}

/// A store that keeps nothing: an app's is on the disk.
struct NoStore: ClientStore {
    func load() async -> StoredClient { StoredClient() }
    func room(_ reference: RoomClient::RoomReference) async -> StoredRoom? { nil }
    func save(_ room: StoredRoom, of reference: RoomClient::RoomReference) async {}
    func removeRoom(_ reference: RoomClient::RoomReference) async {}
    func put(_ command: StoredCommand) async {}
    func removeCommand(_ ordinal: Int) async {}
    func setToken(_ token: String?) async {}
}
