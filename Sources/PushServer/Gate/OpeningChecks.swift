import NIOCore
import RoomDomain
import RoomService
import RoomWire

/// The checks that the opening of a socket needs of the server.
///
/// Called on the connection's loop. `done` is called once, at once or later, on any thread.
protocol OpeningChecks: Sendable {
    /// Whether the server disconnects its clients because it stops.
    var isDraining: Bool { get }

    /// Finds the session behind a request's fields.
    func authenticate(
        authorization: String?, cookies: [String],
        _ done: @escaping @Sendable (Result<Session, CommandFailure>) -> Void)

    /// Finds the room that is meant.
    func find(
        _ reference: RoomReference, for seeker: RoomSeeker,
        _ done: @escaping @Sendable (Result<RoomID, CommandFailure>) -> Void)

    /// Asks a room whether a session may enter it.
    func ask(
        _ room: RoomID, for session: SessionID, _ done: @escaping @Sendable (Result<Void, CommandFailure>) -> Void)

    /// Counts an open socket of a session while the ticket is held; nil if there is no limit.
    func reserve(for session: SessionID) throws(CommandFailure) -> OpenCount<SessionID>.Ticket?
}

/// The checks of a running server.
final class ServerOpeningChecks: OpeningChecks {
    private let authenticator: Authenticator
    private let rooms: RoomRegistry
    private let lookup: RoomLookup
    private let admission: Admission
    private let jobs: BackgroundJobs
    private let draining: @Sendable () -> Bool

    /// Makes the checks; what has to wait for the store runs in `jobs`.
    init(
        authenticator: Authenticator, rooms: RoomRegistry, admission: Admission, jobs: BackgroundJobs,
        draining: @escaping @Sendable () -> Bool
    ) {
        self.authenticator = authenticator
        self.rooms = rooms
        lookup = RoomLookup(rooms: rooms, admission: admission)
        self.admission = admission
        self.jobs = jobs
        self.draining = draining
    }

    var isDraining: Bool { draining() }

    func authenticate(
        authorization: String?, cookies: [String],
        _ done: @escaping @Sendable (Result<Session, CommandFailure>) -> Void
    ) {
        if let session = authenticator.rememberedSession(authorization: authorization, cookies: cookies) {
            return done(.success(session))
        }
        jobs.start { [authenticator] in
            do throws(CommandFailure) {
                done(.success(try await authenticator.session(authorization: authorization, cookies: cookies)))
            } catch {
                done(.failure(error))
            }
        }
    }

    func find(
        _ reference: RoomReference, for seeker: RoomSeeker,
        _ done: @escaping @Sendable (Result<RoomID, CommandFailure>) -> Void
    ) {
        do throws(CommandFailure) {
            if let room = try lookup.known(reference, by: seeker) { return done(.success(room)) }
        } catch {
            return done(.failure(error))
        }
        lookup.find(reference, for: seeker, done)
    }

    func ask(
        _ room: RoomID, for session: SessionID, _ done: @escaping @Sendable (Result<Void, CommandFailure>) -> Void
    ) {
        rooms.admit(session, to: room) { result in done(result.mapError { CommandFailure($0) }) }
    }

    func reserve(for session: SessionID) throws(CommandFailure) -> OpenCount<SessionID>.Ticket? {
        try admission.socket(of: session)
    }
}
