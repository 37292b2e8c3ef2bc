import RoomClient
import Synchronization

/// A transport that tells why the server was not reached.
///
/// The client connects again and again. A command that ends must know of the first failure, and a person in front of a
/// screen the newest one.
struct ReportingTransport: ClientTransport {
    let base: any ClientTransport
    /// Told of every failure to open a socket.
    let faults: FaultReports

    func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        let response = try await base.send(request)
        if let fault = Self.plainHTTP(response, request.server) { throw fault }
        return response
    }

    func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        do throws(TransportFault) {
            return try await base.connect(request)
        } catch {
            let error = error.response.flatMap { Self.plainHTTP($0, request.server) } ?? error
            if !(error.cause is CancellationError) { faults.report(error) }
            throw error
        }
    }

    /// What is wrong where a server expects encryption; nil for any other answer.
    ///
    /// A port for encrypted connections answers a plain request with a 400 of no server's own, whose body is no object.
    private static func plainHTTP(_ response: ClientResponse, _ server: ServerAddress) -> TransportFault? {
        guard response.status == 400, !server.isSecure, response.body.first != UInt8(ascii: "{"),
            let encrypted = ServerAddress("https://\(server.authority)")
        else { return nil }
        return TransportFault("\(server.authority) does not speak plain HTTP: use \(encrypted)", isLasting: true)
    }
}

/// The failures of a transport, for one reader.
final class FaultReports: Sendable {
    let stream: AsyncStream<TransportFault>
    private let continuation: AsyncStream<TransportFault>.Continuation
    private let newestReason = Mutex<String?>(nil)

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8)) }

    /// Why the newest attempt has failed.
    var newest: String? { newestReason.withLock { $0 } }

    func report(_ fault: TransportFault) {
        newestReason.withLock { $0 = fault.reason }
        continuation.yield(fault)
    }
}
