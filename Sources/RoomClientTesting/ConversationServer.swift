import Rehearsal
public import RoomClient
import Synchronization

/// A server in memory that holds a conversation with an app: one of `Tests/Conversations`, or one's own of that form.
///
/// ```swift
/// let server = try ConversationServer(text, name: "lost-ack.jsonl")
/// let client = RoomClient(server.address, as: server.credentials, transport: server)
/// let lacking = try await server.hold { line in await app.answer(line) }
/// ```
///
/// `Documentation/Conversations.md` has the format, and what an app is told and asked. ``ScriptedServer`` is for a test
/// that says both sides in Swift.
public final class ConversationServer: ClientTransport {
    private enum Event: Sendable {
        case tell([UInt8])
        case wake(at: Int64)
        case finished
    }

    private struct State {
        var player: Player
        var last = 0
        var handshakes: [Int: CheckedContinuation<Result<ScriptedLine, TransportFault>, Never>] = [:]
        var requests: [Int: CheckedContinuation<Result<ClientResponse, TransportFault>, Never>] = [:]
        var lines: [Int: ScriptedLine] = [:]
    }

    private static let token = "bls_conversation"

    /// The address for a client of this server; nothing listens there.
    public let address: ServerAddress
    /// The session for a client of this server.
    public let credentials = Credentials.token(token)

    private let clock: any ClientClock
    private let state: Mutex<State>
    private let events = AsyncStream<Event>.makeStream()

    /// A server for one conversation.
    ///
    /// - Parameters:
    ///   - conversation: The text of the file: one JSON object a line.
    ///   - name: The name of the file, for messages.
    ///   - clock: The clock by which it waits.
    /// - Throws: ``WaitFailure`` if the text is no conversation.
    public init(
        _ conversation: String, name: String, clock: any ClientClock = SystemClock()
    ) throws(WaitFailure) {
        guard let address = ServerAddress("http://localhost:1") else { throw WaitFailure("there is no address") }
        let read: Conversation
        do throws(ConversationFault) {
            read = try Conversation(Array(conversation.utf8), name: name)
        } catch {
            throw WaitFailure(error.description)
        }
        self.address = address
        self.clock = clock
        state = Mutex(State(player: Player(read, address: address.description, token: Self.token)))
    }

    /// Holds the conversation to its end.
    ///
    /// - Parameter app: Answers a line that the app is told or asked: `{"start":…}` with what it can do, `{"do":…}`, and
    ///   `{"state":…}`. The next line comes after the answer.
    /// - Returns: What the app cannot do and the conversation needs; it has not been held if there is any.
    /// - Throws: ``WaitFailure`` with the line of the conversation that was not as it says, and with all that was said;
    ///   also if the task is cancelled.
    @discardableResult public func hold(
        _ app: @escaping @Sendable (String) async -> String
    ) async throws(WaitFailure) -> [String] {
        await withDiscardingTaskGroup { group in
            input { $0.started(at: $1) }
            for await event in events.stream {
                switch event {
                case .tell(let line):
                    group.addTask {
                        let answer = await app(String(decoding: line, as: UTF8.self))
                        self.input { $0.answered(Array(answer.utf8), at: $1) }
                    }
                case .wake(let time):
                    group.addTask {
                        guard (try? await self.clock.sleep(until: .milliseconds(time))) != nil else { return }
                        // One that was replaced wakes the player for nothing.
                        self.input { $0.woken(at: $1) }
                    }
                case .finished: events.continuation.finish()
                }
            }
            group.cancelAll()
        }
        input { $0.gaveUp("the task was cancelled", at: $1) }
        let (result, transcript) = state.withLock { ($0.player.result, $0.player.transcript) }
        switch result {
        case .passed?: return []
        case .skipped(let needs)?: return needs
        case .failed(let message)?: throw WaitFailure("\(message)\n\(transcript.joined(separator: "\n"))")
        case nil: throw WaitFailure("the conversation has no end")
        }
    }

    /// What has been said so far, a line each, with its time.
    public var transcript: [String] { state.withLock { $0.player.transcript } }

    // MARK: The player

    /// Gives something to the player, and carries out its steps in their order.
    private func input(_ body: (inout Player, Int64) -> [PlayerStep]) {
        state.withLock { state in
            let steps = body(&state.player, clock.uptime.wholeMilliseconds)
            for step in steps { carryOut(step, &state) }
        }
    }

    private func carryOut(_ step: PlayerStep, _ state: inout State) {
        switch step {
        case .accept(let number):
            let line = ScriptedLine()
            state.lines[number] = line
            state.handshakes.removeValue(forKey: number)?.resume(returning: .success(line))
        case .refuse(let number, let status, let body):
            let response = ClientResponse(status: status, body: body)
            state.handshakes.removeValue(forKey: number)?
                .resume(returning: .failure(TransportFault("the connection was refused", response: response)))
        case .send(let number, let text): state.lines[number]?.push(text)
        case .close(let number, let code): state.lines.removeValue(forKey: number)?.end(.closed(code))
        case .drop(let number): state.lines.removeValue(forKey: number)?.end(.lost)
        // Nothing is sent on it any more, and the player takes nothing from it.
        case .mute: break
        case .respond(let number, let status, let body):
            state.requests.removeValue(forKey: number)?
                .resume(returning: .success(ClientResponse(status: status, body: body)))
        case .tell(let line): events.continuation.yield(.tell(line))
        case .wake(let time): events.continuation.yield(.wake(at: time))
        case .finished:
            for line in state.lines.values { line.end(.lost) }
            state.lines = [:]
            for handshake in state.handshakes.values { handshake.resume(returning: .failure(Self.isOver)) }
            state.handshakes = [:]
            events.continuation.yield(.finished)
        }
    }

    private static var isOver: TransportFault { TransportFault("the conversation is over") }

    // MARK: The transport

    /// Answers a request as the conversation says.
    public func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        let number = nextNumber()
        let result = await withCheckedContinuation { continuation in
            state.withLock { $0.requests[number] = continuation }
            // It is answered at once.
            input { $0.requested(number, method: request.method, path: request.target, at: $1) }
        }
        return try result.get()
    }

    /// Makes a connection when the conversation waits for one, or refuses it.
    public func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        let number = nextNumber()
        let token = request.fields["authorization"].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWanted = state.withLock { state in
                    guard !Task.isCancelled, !state.player.isOver else { return false }
                    state.handshakes[number] = continuation
                    return true
                }
                guard isWanted else { return continuation.resume(returning: .failure(Self.isOver)) }
                input { $0.opening(number, path: request.target, token: token, at: $1) }
            }
        } onCancel: {
            let waiting = state.withLock { $0.handshakes.removeValue(forKey: number) }
            guard let waiting else { return }
            waiting.resume(returning: .failure(TransportFault("the connection was given up")))
            closed(number, nil)
        }
        return ConversationSocket(number, try result.get(), self)
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    fileprivate func received(_ text: [UInt8], _ number: Int) { input { $0.received(text, on: number, at: $1) } }

    fileprivate func closed(_ number: Int, _ code: UInt16?) {
        state.withLock { $0.lines.removeValue(forKey: number) }?.end(.left)
        input { $0.closed(number, code: code, at: $1) }
    }
}

/// The client's end of a connection to a ``ConversationServer``.
private final class ConversationSocket: ClientSocket {
    private let number: Int
    private let line: ScriptedLine
    private let server: ConversationServer

    init(_ number: Int, _ line: ScriptedLine, _ server: ConversationServer) {
        self.number = number
        self.line = line
        self.server = server
    }

    func receive() async throws(TransportFault) -> [UInt8]? { try await line.next() }

    func send(_ text: [UInt8]) async throws(TransportFault) {
        guard line.isOpen else { throw TransportFault("the connection is closed") }
        server.received(text, number)
    }

    func close(_ code: UInt16) async {
        if line.isOpen { server.closed(number, code) }
    }

    var closing: UInt16? {
        get async { line.closing }
    }
}
