import Logging
import NIOCore
import RoomWire
import Synchronization

/// A page was refused because its origin is neither the server's own nor on the operator's list.
struct ForeignOrigin: Error, Equatable {
    /// The page's origin, as the browser has sent it.
    let origin: String
    /// The address that the request was for, as it has arrived: `Host`, and what a trusted proxy has added to it.
    let host: String

    /// What the page is answered.
    var failure: CommandFailure {
        CommandFailure(.forbidden, "pages of this origin may change nothing and open no sockets here")
    }
}

/// Tells the operator of pages that were refused: most often a proxy has changed the address of the server's own page.
///
/// Each origin is told once an hour, and no more than sixteen of them: anybody can send any.
final class ForeignOriginLog: Sendable {
    private static let most = 16
    private static let renewal = TimeAmount.hours(1)
    private static let mostCharacters = 200

    private struct Told {
        var origins: Set<String> = []
        var since: NIODeadline
    }

    private let logger: Logger
    private let told: Mutex<Told>

    init(logger: Logger, at now: NIODeadline = .now()) {
        self.logger = logger
        told = Mutex(Told(since: now))
    }

    /// A page was refused.
    func note(_ refused: ForeignOrigin, at now: NIODeadline = .now()) {
        let isNew = told.withLock { told in
            if now - told.since >= Self.renewal { told = Told(since: now) }
            return told.origins.count < Self.most && told.origins.insert(refused.origin).inserted
        }
        guard isNew else { return }
        logger.warning(
            """
            A page was refused: its origin is not this server's address. If the page is this server's, have the proxy \
            pass on Host as the browser has sent it, or name the origin with --origin
            """,
            metadata: [
                "origin": "\(refused.origin.prefix(Self.mostCharacters))",
                "host": "\(refused.host.prefix(Self.mostCharacters))",
            ])
    }
}
