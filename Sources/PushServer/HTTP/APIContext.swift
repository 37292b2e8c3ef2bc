import Hummingbird
import Logging
import NIOCore
import RoomService
import RoomWire

/// What a request's context is made from.
struct APIRequestSource: RequestContextSource {
    let channel: any Channel
    let logger: Logger
    let memory: AnswerMemory
}

/// What is known of a request while it is answered.
struct APIContext: RequestContext {
    typealias Source = APIRequestSource

    var coreContext: CoreRequestContextStorage
    /// Whose request it is, once that was found out.
    var authenticated: Session?
    /// The other end of the request's connection.
    let peer: SocketAddress?
    /// What the answer takes of the memory for what waits.
    let memory: AnswerMemory

    init(source: APIRequestSource) {
        peer = source.channel.remoteAddress
        memory = source.memory
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Whose request it is.
    func session() throws(CommandFailure) -> Session {
        guard let authenticated else { throw CommandFailure(.unauthorized) }
        return authenticated
    }
}
