import RoomDomain
import RoomWire
import Synchronization
import Testing

@testable import PushServer
@testable import RoomService

/// Checks whose answers a test gives.
final class OpeningAnswers: OpeningChecks {
    private enum Question {
        case authenticate(String, @Sendable (Result<Session, CommandFailure>) -> Void)
        case find(String, @Sendable (Result<RoomID, CommandFailure>) -> Void)
        case ask(String, @Sendable (Result<Void, CommandFailure>) -> Void)

        var text: String {
            switch self {
            case .authenticate(let text, _): "authenticate \(text)"
            case .find(let text, _): "find \(text)"
            case .ask(let text, _): "ask \(text)"
            }
        }
    }

    private struct State {
        var questions: [Question] = []
        var isDraining = false
        var atOnce: (session: Session, room: RoomID)?
        var isFull = false
        var reserved = 0
    }

    private let state = Mutex(State())

    /// The questions without an answer.
    var waiting: [String] { state.withLock { $0.questions.map(\.text) } }
    /// The number of sockets that were counted.
    var reserved: Int { state.withLock { $0.reserved } }
    var isDraining: Bool {
        get { state.withLock { $0.isDraining } }
        set { state.withLock { $0.isDraining = newValue } }
    }
    /// The answers that are given at once.
    var atOnce: (session: Session, room: RoomID)? {
        get { state.withLock { $0.atOnce } }
        set { state.withLock { $0.atOnce = newValue } }
    }
    /// Whether a session may have no more sockets.
    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    private func next() -> Question? {
        state.withLock { $0.questions.isEmpty ? nil : $0.questions.removeFirst() }
    }

    private func ask(_ question: Question) {
        state.withLock { $0.questions.append(question) }
        if let (session, room) = atOnce { answerAnything(session, room) }
    }

    func answer(_ result: Result<Session, CommandFailure>) {
        guard case .authenticate(_, let done) = next() else {
            Issue.record("no session is asked for")
            return
        }
        done(result)
    }

    func answer(_ result: Result<RoomID, CommandFailure>) {
        guard case .find(_, let done) = next() else {
            Issue.record("no room is asked for")
            return
        }
        done(result)
    }

    func answer(_ result: Result<Void, CommandFailure>) {
        guard case .ask(_, let done) = next() else {
            Issue.record("no room is asked")
            return
        }
        done(result)
    }

    /// Answers the next question, if there is one.
    func answerAnything(_ session: Session, _ room: RoomID) {
        switch next() {
        case .authenticate(_, let done): done(.success(session))
        case .find(_, let done): done(.success(room))
        case .ask(_, let done): done(.success(()))
        case nil: break
        }
    }

    func authenticate(
        authorization: String?, cookies: [String],
        _ done: @escaping @Sendable (Result<Session, CommandFailure>) -> Void
    ) {
        ask(.authenticate(([authorization ?? "-"] + cookies).joined(separator: " "), done))
    }

    func find(
        _ reference: RoomReference, for seeker: RoomSeeker,
        _ done: @escaping @Sendable (Result<RoomID, CommandFailure>) -> Void
    ) {
        guard case .id(let room) = reference else { return done(.failure(CommandFailure(.notFound))) }
        ask(.find("\(room)", done))
    }

    func ask(
        _ room: RoomID, for session: SessionID, _ done: @escaping @Sendable (Result<Void, CommandFailure>) -> Void
    ) {
        ask(.ask("\(room)", done))
    }

    func reserve(for session: SessionID) throws(CommandFailure) -> OpenCount<SessionID>.Ticket? {
        guard !isFull else { throw CommandFailure(.rateLimited) }
        state.withLock { $0.reserved += 1 }
        return nil
    }
}
