import RoomClient
import RoomWire

/// What a ``ScriptedServer`` has to say, and how far it is.
struct Script: Sendable {
    struct Step: Sendable {
        enum Kind: Sendable {
            case connection(String?)
            case refusal(ClientResponse)
            case expectation(String)
            /// A room's reference, and its snapshot.
            case serving(String, String)
            case message(String)
            /// With a code, or lost.
            case close(UInt16?)

            /// Whether a client that connects can be told something by it.
            var answers: Bool {
                switch self {
                case .connection, .refusal, .serving, .message: true
                case .expectation, .close: false
                }
            }
        }

        let kind: Kind
        /// Where it is in the test.
        let place: String
    }

    /// The steps that have not been played.
    var steps: [Step] = []
    /// The answers by method and target.
    var answers: [String: ClientResponse] = [:]
    /// Why it goes on no more.
    private(set) var failure: String?
    private(set) var transcript: [String] = []

    private let welcomes: Bool
    private let clock: any ClientClock
    private var line: ScriptedLine?
    /// The path of the connection, until the room that it names is served.
    private var target = ""
    /// What the client has sent on the connection and no step has taken.
    private var inbox: [[UInt8]] = []
    private var captures: [String: JSONValue] = [:]
    /// Whether the client has ended the last connection by itself.
    private var wasLeft = false

    var isConnected: Bool { line?.isOpen == true }

    init(welcomes: Bool, clock: any ClientClock) {
        self.welcomes = welcomes
        self.clock = clock
    }

    // MARK: What the client does

    mutating func answer(to request: ClientRequest) -> ClientResponse? {
        let name = "\(request.method) \(request.target)"
        guard failure == nil else { return nil }
        let answer = answers[name] ?? (name == "POST /v1/sessions" ? session : nil) ?? ClientResponse(status: 404)
        transcript.append("-- \(name): \(answer.status)")
        return answer
    }

    /// Makes a connection; returns a fault if it is refused.
    mutating func connect(_ new: ScriptedLine, to target: String) -> TransportFault? {
        if let failure { return TransportFault("the conversation has failed: \(failure)") }
        switch steps.first?.kind {
        case .refusal(let response)?:
            steps.removeFirst()
            transcript.append("-- refused \(target): \(response.status)")
            return TransportFault("the connection was refused", response: response)
        case .connection(let expected)?:
            guard expected == nil || expected == target || expected.map({ target.hasPrefix("\($0)?") }) == true else {
                fail("a connection to \(target) does not fit")
                return TransportFault("the conversation has failed: \(failure ?? "")")
            }
            steps.removeFirst()
        case .expectation, .serving, .message, .close, nil:
            guard !(wasLeft || isConnected) || steps.contains(where: \.kind.answers) else {
                fail("the client has connected again by itself, and no step answers it")
                return TransportFault("the conversation has failed: \(failure ?? "")")
            }
        }
        wasLeft = false
        transcript.append("-- connected to \(target)")
        line?.end(.lost)
        line = new
        self.target = target
        inbox = []
        if welcomes { say(Array(welcome.utf8)) }
        return nil
    }

    mutating func received(_ text: [UInt8], on line: ScriptedLine) {
        guard self.line === line, failure == nil else { return }
        transcript.append("<- \(String(decoding: text, as: UTF8.self))")
        inbox.append(text)
    }

    mutating func closed(_ line: ScriptedLine, _ code: UInt16) {
        guard line.isOpen else { return }
        line.end(.left)
        transcript.append("-- the client has closed with \(code)")
        if self.line === line { (self.line, wasLeft) = (nil, true) }
    }

    // MARK: Steps

    /// Plays all steps that can be played now.
    mutating func play() {
        while failure == nil {
            answerTime()
            guard let line, let step = steps.first else { return }
            switch step.kind {
            case .connection, .refusal: return
            case .expectation(let pattern):
                guard !inbox.isEmpty else { return }
                guard take(inbox.removeFirst(), pattern) else { return }
            case .serving(let room, let snapshot):
                guard serve(room, snapshot) else { return }
            case .message(let text):
                guard let message = filled(text) else { return }
                say(message)
            case .close(let code):
                line.end(code.map { .closed($0) } ?? .lost)
                self.line = nil
                transcript.append("-- \(code.map { "closed with \($0)" } ?? "lost")")
            }
            steps.removeFirst()
        }
    }

    /// Answers requests for the time, unless a step expects one.
    private mutating func answerTime() {
        if case .expectation(let pattern)? = steps.first?.kind, Self.type(Array(pattern.utf8)) == "time" { return }
        while let text = inbox.first, Self.type(text) == "time", let line {
            inbox.removeFirst()
            guard let request = (try? JSONValue(parsing: text))?.object else { continue }
            var writer = JSONWriter()
            writer.value(
                .object(
                    JSONObject([
                        .init(name: "type", value: .string("time")), .init(name: "re", value: request["id"] ?? .null),
                        .init(name: "t1", value: request["t1"] ?? .null),
                        .init(name: "t2", value: .integer(clock.date)), .init(name: "t3", value: .integer(clock.date)),
                    ])))
            line.push(writer.bytes)
        }
    }

    private mutating func say(_ message: [UInt8]) {
        // A client drops what it cannot read, which is hard to find in a test.
        let isReadable = (try? ServerMessage.Received.parse(message)) != nil
        transcript.append("-> \(isReadable ? "" : "(unreadable) ")\(String(decoding: message, as: UTF8.self))")
        line?.push(message)
    }

    /// Sends a snapshot once the client has asked for it; false before that.
    private mutating func serve(_ room: String, _ snapshot: String) -> Bool {
        guard var message = (try? JSONValue(parsing: Array(snapshot.utf8)))?.object else {
            fail("the snapshot is no JSON object")
            return false
        }
        let path = "/v1/rooms/\(room)/socket"
        if target == path || target.hasPrefix("\(path)?") {
            // The socket's path was the request.
            target = ""
        } else {
            guard !inbox.isEmpty else { return false }
            let text = inbox.removeFirst()
            guard take(text, #"{"type":"subscribe","room":"\#(room)"}"#) else { return false }
            let id = (try? JSONValue(parsing: text))?.object?["id"]
            message.members.append(JSONObject.Member(name: "re", value: id ?? .null))
        }
        var writer = JSONWriter()
        writer.value(.object(message))
        say(writer.bytes)
        return true
    }

    private mutating func take(_ text: [UInt8], _ pattern: String) -> Bool {
        guard let expected = try? JSONValue(parsing: Array(pattern.utf8)) else {
            fail("the pattern is no JSON")
            return false
        }
        guard let message = try? JSONValue(parsing: text) else {
            fail("the message is no JSON")
            return false
        }
        var matcher = JSONPattern(captures: captures)
        guard let difference = matcher.difference(of: message, from: expected) else {
            captures = matcher.captures
            return true
        }
        fail("the message does not fit: \(difference)")
        return false
    }

    /// The message with the values of its names; nil if there is none for one of them.
    private mutating func filled(_ text: String) -> [UInt8]? {
        // Left as it is written where nothing stands for another value: a test may send anything.
        guard text.contains("\"$"), let message = try? JSONValue(parsing: Array(text.utf8)) else {
            return Array(text.utf8)
        }
        var unknown: String?
        let filled = JSONPattern(captures: captures).filled(message, &unknown)
        if let unknown {
            fail("nothing was captured as \(unknown)")
            return nil
        }
        var writer = JSONWriter()
        writer.value(filled)
        return writer.bytes
    }

    private mutating func fail(_ reason: String) {
        failure = reason
        transcript.append("-- failed: \(reason)")
        line?.end(.lost)
        line = nil
    }

    // MARK: Words

    /// Where it stands, and what was said.
    var report: String {
        let next = steps.first.map { "the next step, at \($0.place): \(Self.words($0.kind))" }
        let said = transcript.suffix(20).map { "    \($0.prefix(500))" }
        let all = said.isEmpty ? "    nothing" : said.joined(separator: "\n")
        return "\(next ?? "all steps were played")\nsaid so far:\n\(all)"
    }

    private static func words(_ kind: Step.Kind) -> String {
        switch kind {
        case .connection(let target): "a connection to \(target ?? "anything")"
        case .refusal(let response): "a connection is refused with \(response.status)"
        case .expectation(let pattern): "the client sends \(pattern)"
        case .serving(let room, _): "the client asks for the room \(room)"
        case .message(let text): "the server sends \(text.prefix(500))"
        case .close(let code?): "the server closes with \(code)"
        case .close(nil): "the connection is lost"
        }
    }

    private static func type(_ text: [UInt8]) -> String? { (try? JSONValue(parsing: text))?.object?["type"]?.string }

    private var session: ClientResponse {
        let body =
            #"{"session":{"id":"\#(Self.sessionID)","name":"Ana","createdAt":\#(clock.date),"#
            + #""expiresAt":\#(clock.date + 2_592_000_000)},"token":"bls_scripted"}"#
        return ClientResponse(status: 201, body: Array(body.utf8))
    }

    private var welcome: String {
        #"{"type":"welcome","session":{"id":"\#(Self.sessionID)","name":"Ana"},"#
            + #""server":{"version":"scripted","node":"scripted"},"beatMs":25000,"time":\#(clock.date)}"#
    }

    private static let sessionID = "0193503f-0000-7000-8000-000000000001"
}
