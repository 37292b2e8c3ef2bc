package import ArgumentParser
import RoomClient

/// `backline sign-in`.
package struct SignIn: OneShotCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Begin a session at a server, and remember it for the other commands.",
        discussion: """
            There are no accounts: a session is a name and a secret token, which is kept in the folder backline of \
            $XDG_CONFIG_HOME, else of ~/.config, where only you can read it. A session that is remembered goes on, with \
            another name if one is given. The environment's BACKLINE_TOKEN takes the place of what is remembered.


            """ + exitCodes)

    @Argument(
        help: ArgumentHelp("The server's address, such as https://party.example.", valueName: "address"),
        completion: .custom { _, _, _ in Remembered.servers })
    var address: String?
    @Option(help: "Your name, 1 to 40 characters. [default: the name of your account on this machine]")
    var name: String?
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        var options = options
        if let address {
            guard options.server == nil else { throw TerminalFailure.usage("name the server once") }
            options.server = address
        }
        let session: TerminalSession
        do {
            session = try await options.open(name: name)
            // Whether the session still is one.
            _ = try await session.client.rooms()
        } catch let error as ClientError where error.code == .unauthorized {
            try await beginAnew(&options, output)
            return
        }
        if let name { try await rename(session, to: name) }
        try session.remember()
        output.print(sentence(for: session))
    }

    private func beginAnew(_ options: inout SessionOptions, _ output: PlainOutput) async throws {
        guard Surroundings.current["BACKLINE_TOKEN"] == nil else {
            throw TerminalFailure.badToken
        }
        let folder = ConfigurationFolder(environment: Surroundings.current.environment)
        let key = try options.address(link: nil, folder.load()).description
        try folder.update { $0.servers[key]?.token = nil }
        let session = try await options.open(name: name)
        try session.remember()
        output.print(sentence(for: session))
    }

    private func sentence(for session: TerminalSession) -> String {
        guard session.remembers, let name = try? session.folder.load().servers[session.key]?.name else {
            return "Signed in at \(session.server)."
        }
        return "Signed in at \(session.server) as \(name)."
    }

    /// Gives the session another name, where it has one already.
    private func rename(_ session: TerminalSession, to name: String) async throws {
        guard session.remembers, try session.folder.load().servers[session.key]?.name != name else { return }
        let body = SafeJSON.fields(["name": .text(name)]).line
        try await session.request("PATCH", body: Array(body.utf8), expecting: 200)
        try session.folder.update { $0.servers[session.key]?.name = name }
    }
}

/// `backline sign-out`.
package struct SignOut: OneShotCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sign-out",
        abstract: "End the session at a server: it leaves all rooms, and is forgotten here.",
        discussion: exitCodes)

    @Flag(help: "Forget the session here only; it stays a member of its rooms.")
    var local = false
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let folder = ConfigurationFolder(environment: Surroundings.current.environment)
        let server = try options.address(link: nil, folder.load())
        let key = server.description
        guard try folder.load().servers[key]?.token != nil else {
            throw TerminalFailure.refused("there is no session at \(server) to end")
        }
        if !local {
            let session = try await options.open()
            try await session.request("DELETE", body: nil, expecting: 204)
        }
        try folder.update { configuration in
            configuration.servers[key] = nil
            if configuration.server == key { configuration.server = nil }
        }
        output.print("Signed out at \(server).")
    }
}

extension TerminalSession {
    /// A request about the session itself.
    ///
    /// One that is over already counts as ended.
    func request(_ method: String, body: [UInt8]?, expecting status: Int) async throws {
        let token = try await client.token()
        var request = ClientRequest(method, "/v1/session", at: server, body: body)
        request.fields = ["authorization": "Bearer \(token)", "accept": "application/json"]
        if body != nil { request.fields["content-type"] = "application/json" }
        let response: ClientResponse
        do throws(TransportFault) {
            response = try await transport.send(request)
        } catch {
            throw ClientError(.unavailable, error.reason, cause: error)
        }
        switch response.status {
        case status: return
        case 401 where method == "DELETE": return
        case 400: throw TerminalFailure.refused("the server refuses the name: 1 to 40 visible characters")
        case 429, 500...: throw TerminalFailure.unavailable("the server asks to try again in a moment")
        default: throw TerminalFailure.refused("the server answered with status \(response.status)")
        }
    }
}
