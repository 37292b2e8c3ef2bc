package import RoomClient

/// The reason why a command ends, with a line that tells a person what to do.
package struct TerminalFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line.
    package var message: String
    /// The exit code: 1, or as in `sysexits.h`.
    package var exitCode: Int32
    /// Whether the room that was named is not one.
    var isAboutRoom = false

    init(message: String, exitCode: Int32) {
        self.message = message
        self.exitCode = exitCode
    }

    /// The message, as a part of another one.
    package var description: String { message }

    /// The message as a terminal may get it: it may have texts of a server in it, and lists of tracks on further lines.
    package var text: String {
        message.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indent = line.prefix { $0 == " " }
            return indent + SafeText.line(String(line.dropFirst(indent.count)))
        }.joined(separator: "\n")
    }

    /// The server has said no: 1.
    static func refused(_ message: String) -> Self { Self(message: message, exitCode: 1) }
    /// The command line cannot be carried out: 64.
    static func usage(_ message: String) -> Self { Self(message: message, exitCode: 64) }
    /// The lines on standard input are not what is expected: 65.
    static func data(_ message: String) -> Self { Self(message: message, exitCode: 65) }
    /// The server, or a file, cannot be reached: 69.
    static func unavailable(_ message: String) -> Self { Self(message: message, exitCode: 69) }
}

extension TerminalFailure {
    /// An error of the client library, with what to do about it.
    ///
    /// `hasToken` tells that BACKLINE_TOKEN has named the session.
    package init(
        _ error: ClientError, room: String? = nil, hasToken: Bool = Surroundings.current["BACKLINE_TOKEN"] != nil
    ) {
        let room = room ?? "CODE"
        switch error.code {
        case .unauthorized where hasToken: self = .badToken
        case .unauthorized:
            self = .refused("the session is over: run 'backline sign-in' to begin another one")
        case .notMember: self = .refused("only members may do this: run 'backline join \(room)' first")
        case .forbidden: self = .refused("only the owner and the DJs of the room may do this")
        case .banned:
            let reason = error.reason.map { " (\($0))" } ?? ""
            self = .refused("you are banned from the room\(reason)\(Self.wait(error))")
        case .roomClosed: self = .refused("the room is closed")
        case .notFound where ["there is no such room", "the room has ended"].contains(error.message):
            self = .refused("there is no room \(room): check its code")
            isAboutRoom = true
        case .rateLimited: self = .refused("that was too much in too short a time\(Self.wait(error))")
        case .unavailable, .internal, .offline:
            let fault = error.cause as? TransportFault
            let hint = fault.map(Self.hint) ?? ": try again in a moment"
            self = .unavailable(error.message + hint)
        case .store: self = .unavailable("\(error.message): \(error.cause.map { "\($0)" } ?? "unknown")")
        case .outcomeUnknown:
            self = .unavailable("nobody can say whether it was done; look with 'backline queue'")
        default: self = .refused(error.message)
        }
    }

    /// What the environment has named is no token of a session.
    static let badToken = refused(
        "the server does not accept the token in BACKLINE_TOKEN: give it another one, or unset it")

    private static func wait(_ error: ClientError) -> String {
        guard let wait = error.retryAfter else { return "" }
        let seconds = max(1, Int((wait / .seconds(1)).rounded(.up)))
        return seconds < 120 ? ": try again in \(seconds) s" : ": try again in \((seconds + 59) / 60) minutes"
    }

    private static func hint(_ fault: TransportFault) -> String {
        guard fault.isLasting else { return ": is the server running, and is its address right?" }
        guard fault.reason.contains("authority") else { return "" }
        return ": name the authority's file with --ca, or use --insecure on your own machine"
    }
}
