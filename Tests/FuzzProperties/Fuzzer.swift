/// The fuzzers: for each, there is a property that holds for any bytes.
///
/// A fuzzer's corpora are under its name in `Tests/FuzzCorpora`.
package enum Fuzzer: String, CaseIterable, Sendable {
    /// Frames and messages of either role.
    case frames = "Frames"
    /// Heads of requests and responses, and the opening handshake.
    case head = "Head"
    /// Requests of an HTTP connection.
    case http = "HTTP"
    /// Clients' JSON, on sockets and in bodies of requests.
    case clientMessages = "ClientMessages"
    /// Commands to a room, line by line.
    case commands = "Commands"
    /// Compressed messages.
    case inflate = "Inflate"

    /// The result for an input for which the property holds.
    package enum Verdict: Equatable, Sendable {
        /// All of it was understood.
        case accepted
        /// It was refused with a typed violation.
        case refused
        /// More bytes are needed.
        case unfinished
    }

    /// Checks the property for one input.
    ///
    /// - Throws: ``BrokenProperty`` if it does not hold; a trap, a hang or unbounded memory is a failure as well.
    @discardableResult
    package func check(_ input: [UInt8]) throws(BrokenProperty) -> Verdict {
        switch self {
        case .frames: try FramesProperty.check(input)
        case .head: try HeadProperty.check(input)
        case .http: try HTTPProperty.check(input)
        case .clientMessages: try ClientMessagesProperty.check(input)
        case .commands: try CommandsProperty.check(input)
        case .inflate: try InflateProperty.check(input)
        }
    }
}
