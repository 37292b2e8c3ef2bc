import ArgumentParser
import FoundationEssentials
import RoomClient
import RoomClientNIO

/// Which server, and how it is trusted.
struct SessionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server's address, such as https://party.example. [BACKLINE_SERVER; default: the one used last]",
            valueName: "address"),
        completion: .custom { _, _, _ in Remembered.servers })
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Trust the certificate authorities in this PEM file, and no others. Remembered for the server.",
            valueName: "file"),
        completion: .file())
    var ca: String?

    @Flag(help: "Do not verify the server's certificate: for development, on your own machine.")
    var insecure = false

    /// The address: of a link to a room, the option, the environment, or what is remembered.
    func address(link: ServerAddress?, _ configuration: Configuration) throws(TerminalFailure) -> ServerAddress {
        let variable = Surroundings.current["BACKLINE_SERVER"]
        if let text = server ?? (link == nil ? variable : nil) {
            guard let address = ServerAddress(text) else {
                let name = server == nil ? "BACKLINE_SERVER" : "--server"
                let bare = text.lowercased().hasPrefix("http://") ? ServerAddress(String(text.dropFirst(7))) : nil
                if let bare { throw .usage("\(name): http is for servers on this machine only: use \(bare)") }
                throw .usage("\(name): '\(text)' is no address such as https://party.example")
            }
            return address
        }
        if let link { return link }
        if let remembered = configuration.server.flatMap({ ServerAddress($0) }) { return remembered }
        throw .usage("no server is known: name one with --server, or with 'backline sign-in ADDRESS'")
    }

    /// Opens the session that is remembered, or makes one under a name.
    func open(link: ServerAddress? = nil, name: String? = nil) async throws -> TerminalSession {
        let folder = ConfigurationFolder(environment: Surroundings.current.environment)
        let configuration = try folder.load()
        let server = try address(link: link, configuration)
        let key = server.description
        let known = configuration.servers[key]
        let faults = FaultReports()
        let transport = ReportingTransport(base: try transport(known?.authority), faults: faults)
        let token = Surroundings.current["BACKLINE_TOKEN"]
        // Before a session is made that could not be used again.
        if token == nil { try folder.check() }
        let guest = name ?? known?.name ?? Surroundings.current.userName
        let store: any ClientStore = SessionStore(folder: folder, server: key, name: guest)
        let client = RoomClient(
            server, as: token.map { .token($0) } ?? .guest(name: guest), transport: transport,
            store: token == nil ? store : MemoryStore())
        let session = TerminalSession(
            server: server, client: client, transport: transport, faults: faults, folder: folder,
            remembers: token == nil)
        // A new session is made here, so that nothing else has to be ready for its failure.
        if token == nil { _ = try await client.token() }
        if let authority = try authority, token == nil, known?.authority != authority {
            try folder.update { $0.servers[key, default: Configuration.Server()].authority = authority }
        }
        return session
    }

    /// The room used last at the server, and a session there; nil if none is remembered.
    func current() async throws -> (session: TerminalSession, room: RoomReference)? {
        guard let room = try known().first.flatMap({ RoomReference($0.code) }) else { return nil }
        return (try await open(), room)
    }

    /// The rooms that are remembered of the server, newest first.
    func known() throws -> [Configuration.Room] {
        let configuration = try ConfigurationFolder(environment: Surroundings.current.environment).load()
        return configuration.rooms(at: try address(link: nil, configuration).description)
    }

    private func transport(_ known: String?) throws -> NIOTransport {
        guard !(insecure && ca != nil) else { throw TerminalFailure.usage("--insecure and --ca exclude each other") }
        let trust: NIOTransport.Trust
        if insecure {
            trust = .insecure
        } else if let file = try authority ?? known {
            trust = .authority(file: file)
        } else {
            trust = .system
        }
        do throws(TransportFault) {
            return try NIOTransport(trust: trust)
        } catch {
            throw TerminalFailure.usage("--ca: \(error.reason)")
        }
    }

    /// The whole path of the file with authorities.
    private var authority: String? {
        get throws(TerminalFailure) {
            guard let ca else { return nil }
            guard FileManager.default.fileExists(atPath: ca) else { throw .usage("--ca: there is no file \(ca)") }
            return ca.hasPrefix("/") ? ca : FileManager.default.currentDirectoryPath + "/" + ca
        }
    }
}

/// What completion offers: only what is remembered, so that pressing Tab never asks a server.
enum Remembered {
    private static var configuration: Configuration? {
        try? ConfigurationFolder(environment: Surroundings.current.environment).load()
    }

    static var servers: [String] { configuration?.servers.keys.sorted() ?? [] }

    /// The codes of the rooms at the server that was used last.
    static var codes: [String] {
        guard let configuration, let server = Surroundings.current["BACKLINE_SERVER"] ?? configuration.server else {
            return []
        }
        return configuration.rooms(at: ServerAddress(server)?.description ?? server).map(\.code)
    }
}
