import Hummingbird
import Logging
import NIOCore
import RoomService
import RoomWire

/// The values from which a request's context is made.
struct APIRequestSource: RequestContextSource {
    let channel: any Channel
    let logger: Logger
    let memory: AnswerMemory
}

/// The state of a request while it is answered.
struct APIContext: RequestContext {
    typealias Source = APIRequestSource

    var coreContext: CoreRequestContextStorage
    /// The session behind the request, once it is authenticated.
    var authenticated: Session?
    /// The other end of the request's connection.
    let peer: SocketAddress?
    /// The memory that the answer takes while it waits.
    let memory: AnswerMemory

    init(source: APIRequestSource) {
        peer = source.channel.remoteAddress
        memory = source.memory
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Returns the session behind the request.
    func session() throws(CommandFailure) -> Session {
        guard let authenticated else { throw CommandFailure(.unauthorized) }
        return authenticated
    }
}
