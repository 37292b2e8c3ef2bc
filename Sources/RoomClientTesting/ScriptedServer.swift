public import RoomClient
import RoomWire
import Synchronization

/// A server in memory that plays a conversation: what it expects of a client, and what it sends.
///
/// ```swift
/// let server = ScriptedServer()
/// server.serves("7K3M9Q", snapshot)
/// server.expects(#"{"type":"command","id":"$id","key":"$key","command":{"type":"vote","track":1}}"#)
/// server.closes(1012)
/// server.expectsConnection(to: "/v1/rooms/7K3M9Q/socket?epoch=e1&seq=57")
/// …
/// try await server.finished()
/// ```
///
/// **Steps** are played in the order of the calls, each as soon as it can be; they may be added while the conversation
/// goes on. A connection is made at any time, if no step says otherwise, and takes the place of the one before it. What a
/// client has sent on an earlier connection, and no step expected, is lost.
///
/// **Patterns.** A message fits a pattern if it has all of its members with the same values; it may have more. The value
/// `"$name"` fits anything the first time, and what it was then from that time on. In what the server sends, `"$name"`
/// stands for that value.
///
/// **Without a step** the server welcomes each connection, answers messages of the type `time` by its clock, and makes
/// sessions.
///
/// **A conversation fails** by a message that does not fit, and by a client that ends a connection by itself and makes
/// another one, where no step that is left would tell it anything: it would wait for ever. Then the connection is lost, and
/// no other one is made; ``finished(within:file:line:)`` and ``failed()`` say why.
public final class ScriptedServer: ClientTransport {
    private let state: Mutex<Script>
    private let alarm = Alarm()

    /// A server whose conversation has no steps yet.
    ///
    /// - Parameters:
    ///   - welcomes: Whether it sends a `welcome` on each connection.
    ///   - clock: Its clock.
    public init(welcomes: Bool = true, clock: any ClientClock = SystemClock()) {
        state = Mutex(Script(welcomes: welcomes, clock: clock))
    }

    // MARK: The conversation

    /// Waits for a connection; what follows happens on it.
    ///
    /// `target` is the path, with its query if it matters; nil is any.
    public func expectsConnection(to target: String? = nil, file: String = #fileID, line: Int = #line) {
        add(.connection(target), file, line)
    }

    /// Refuses the next connection with a status and a body of HTTP.
    ///
    /// The body is a problem as the protocol has it: `{"code":"rate_limited","detail":…}`.
    public func refuses(_ status: Int, _ body: String = "", file: String = #fileID, line: Int = #line) {
        add(.refusal(ClientResponse(status: status, body: Array(body.utf8))), file, line)
    }

    /// Waits for the client to ask for a room, by the path of its socket or by a `subscribe`, and sends a snapshot.
    ///
    /// `room` is the reference under which the client asks, its code or its identifier; `snapshot` is the message of that
    /// type, without `re`.
    public func serves(_ room: String, _ snapshot: String, file: String = #fileID, line: Int = #line) {
        add(.serving(room, snapshot), file, line)
    }

    /// Waits for a message of the client.
    public func expects(_ pattern: String, file: String = #fileID, line: Int = #line) {
        add(.expectation(pattern), file, line)
    }

    /// Sends a message.
    public func sends(_ message: String, file: String = #fileID, line: Int = #line) {
        add(.message(message), file, line)
    }

    /// Closes the connection, behind what was sent on it.
    public func closes(_ code: UInt16, file: String = #fileID, line: Int = #line) { add(.close(code), file, line) }

    /// Loses the connection, behind what was sent on it.
    public func loses(file: String = #fileID, line: Int = #line) { add(.close(nil), file, line) }

    /// Answers requests of a method and a target (a path, with its query if it matters) from now on.
    public func answers(_ method: String, _ target: String, _ status: Int = 200, _ body: String = "") {
        state.withLock { $0.answers["\(method) \(target)"] = ClientResponse(status: status, body: Array(body.utf8)) }
    }

    /// Waits until all steps have been played.
    ///
    /// What was sent last may still be on its way through the client. `limit` is by the system's clock.
    ///
    /// - Throws: ``WaitFailure`` if a message did not fit, if the conversation does not get to its end in time, or if the
    ///   task is cancelled; with the step at which it stands, and what was said before.
    public func finished(
        within limit: Duration = .seconds(10), file: String = #fileID, line: Int = #line
    ) async throws(WaitFailure) {
        let isOver = await alarm.wait(within: limit) {
            state.withLock { $0.steps.isEmpty || $0.failure != nil }
        }
        let report = state.withLock { $0.failure ?? (isOver ? nil : "it stands still after \(limit)") }
        guard let report else { return }
        throw WaitFailure("\(file):\(line): \(report)\n\(state.withLock { $0.report })")
    }

    /// Waits until the conversation has failed, for a test that waits for something else meanwhile.
    ///
    /// - Throws: ``WaitFailure`` once it has failed, with the step at which it stands, and what was said before; or if the
    ///   task is cancelled.
    public func failed(file: String = #fileID, line: Int = #line) async throws(WaitFailure) {
        while !Task.isCancelled {
            _ = await alarm.wait(within: .seconds(3_600)) { state.withLock { $0.failure != nil } }
            if let failure = state.withLock({ $0.failure }) {
                throw WaitFailure("\(file):\(line): \(failure)\n\(state.withLock { $0.report })")
            }
        }
        throw WaitFailure("\(file):\(line): the task was cancelled")
    }

    /// What was said so far, a line each: `<-` by the client, `->` by the server, `--` about connections and requests.
    ///
    /// A message of the server that clients of this release cannot read is marked; they drop it.
    public var transcript: [String] { state.withLock { $0.transcript } }

    /// Whether there is a connection.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    private func add(_ kind: Script.Step.Kind, _ file: String, _ line: Int) {
        play { $0.steps.append(Script.Step(kind: kind, place: "\(file):\(line)")) }
    }

    /// Changes the conversation, and plays the steps that this makes possible.
    func play(_ change: (inout Script) -> Void) {
        state.withLock { script in
            change(&script)
            script.play()
        }
        alarm.ring()
    }

    // MARK: The transport

    /// Answers a request: as a call of ``answers(_:_:_:_:)`` says, or with a session, or with the status 404.
    public func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        var answer: ClientResponse?
        play { answer = $0.answer(to: request) }
        guard let answer else { throw TransportFault("the conversation has failed") }
        return answer
    }

    /// Makes a connection, or refuses it as the conversation says.
    public func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        let line = ScriptedLine()
        var fault: TransportFault?
        play { fault = $0.connect(line, to: request.target) }
        if let fault { throw fault }
        return ScriptedSocket(line: line, server: self)
    }
}

/// The client's end of a connection to a ``ScriptedServer``.
final class ScriptedSocket: ClientSocket {
    private let line: ScriptedLine
    private let server: ScriptedServer

    init(line: ScriptedLine, server: ScriptedServer) {
        self.line = line
        self.server = server
    }

    func receive() async throws(TransportFault) -> [UInt8]? { try await line.next() }

    func send(_ text: [UInt8]) async throws(TransportFault) {
        guard line.isOpen else { throw TransportFault("the connection is closed") }
        server.play { [line] in $0.received(text, on: line) }
    }

    func close(_ code: UInt16) async {
        server.play { [line] in $0.closed(line, code) }
    }

    var closing: UInt16? {
        get async { line.closing }
    }
}
