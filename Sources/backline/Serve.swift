import ArgumentParser
import CoreMetrics
import EventStorage
import LogOutput
import Logging
import NIOCore
import NIOPosix
import PrometheusMetrics
import PushServer
import RoomService
import SchemaFiles
import ServiceLifecycle
import SystemCalls
import TLSTransport
import WebClient

/// `backline serve`: the server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve rooms over HTTP and WebSocket, with TLS, on one port.",
        discussion: """
            Prints one line on standard output when clients can connect: listening on https://HOST:PORT. A line for \
            each address of the page follows: page https://…/. Logs go to standard error. SIGTERM and SIGINT stop the \
            server: it tells clients to reconnect, finishes commands in flight, and ends with exit code 0. A second \
            signal of the same kind ends it at once. SIGHUP reads the certificate and its key again, SIGUSR1 and \
            SIGUSR2 do nothing. Brackets name the environment variable of each flag; a flag overrides its variable.
            """)

    @Option(help: "The address to listen on. [BACKLINE_HOST; default: 127.0.0.1]")
    var host: String?

    @Option(help: "The port to listen on; 0 takes a free one. [BACKLINE_PORT; default: 8443]")
    var port: String?

    @Option(
        help: ArgumentHelp(
            "Serve /metrics at this address, over plain HTTP, instead of on the port of clients. Only your monitoring should reach it. [BACKLINE_METRICS_ADDRESS; default: on the port of clients]",
            valueName: "host:port"))
    var metricsAddress: String?

    @OptionGroup var store: StoreSettings

    @Option(
        help: ArgumentHelp(
            "PEM file with the certificate chain; needs --key. [BACKLINE_CERTIFICATE; default: a development certificate of its own]",
            valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("PEM file with the certificate's private key. [BACKLINE_KEY]", valueName: "file"))
    var key: String?

    @Flag(help: "No TLS, for a server behind a proxy that ends it. [BACKLINE_PLAIN=true]")
    var plain = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Further web origins whose pages may open sockets and change something. The server's own origin always may. [BACKLINE_ORIGIN, separated by commas; default: none]",
            valueName: "url"))
    var origin: [String] = []

    @OptionGroup(title: "The page") var page: PageSettings

    @OptionGroup(title: "Statistics") var statistics: StatisticsSettings

    @OptionGroup(title: "Limits and times") var sockets: SocketSettings

    @OptionGroup(title: "Reading") var reads: ReadSettings

    @OptionGroup(title: "Shares of the event log and of signals") var shares: ShareSettings

    @OptionGroup(title: "Rooms") var pools: PoolSettings

    @OptionGroup(title: "JSON Web Tokens of another identity provider") var identities: IdentitySettings

    @Option(
        help: ArgumentHelp(
            "A session that is not used for this long ends. [BACKLINE_SESSION_LIFETIME_SECONDS; default: 2592000, 30 days]",
            valueName: "s"))
    var sessionLifetimeSeconds: String?

    @Option(
        help: ArgumentHelp(
            "A member who has lost the last connection to a room stays online for this long. 0: offline at once. [BACKLINE_PRESENCE_GRACE_SECONDS; default: 15]",
            valueName: "s"))
    var presenceGraceSeconds: String?

    @Option(
        help: ArgumentHelp(
            "Size of the cells to whose centre a room's location is rounded before it is stored. 0: not rounded. [BACKLINE_LOCATION_PRECISION_METERS; default: 100]",
            valueName: "n"))
    var locationPrecisionMeters: String?

    @Option(
        help: ArgumentHelp(
            "Rooms that were closed longer ago than this are removed, with everything that the log has of them. [BACKLINE_RETAIN_CLOSED_ROOMS; default: never]",
            valueName: "days"))
    var retainClosedRooms: String?

    @Option(
        help:
            "The least severe messages that are logged: trace, debug, info, notice, warning, error, critical. [BACKLINE_LOG_LEVEL; default: info]"
    )
    var logLevel: LogLevel?

    func run() async throws {
        ServerSignals.ignoreOthersThanStops()
        let level = try (logLevel ?? Environment.value("BACKLINE_LOG_LEVEL"))?.level ?? .info
        let node = Node.makeName()
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler(label: label, stream: LogStream(Console.log))
            handler.logLevel = level
            return handler
        }
        let logger = Logger(label: "backline")
        try OpenFiles.raiseLimit()
        if Environment.portIsAService {
            logger.notice("The platform has set BACKLINE_PORT to the address of a service; it counts as not set")
        }
        // All settings are checked before anything is opened or made.
        var settings = try serverSettings(node: node)
        settings.tokens = try identities.verifier()
        var roomSettings = try roomSettings()
        let isPlain = try plain || Environment.isSet("BACKLINE_PLAIN")
        try statistics.apply(to: &roomSettings)
        try shares.apply(to: &roomSettings, knowsAddresses: !isPlain || !settings.trustedProxies.isEmpty)
        let threads = try sockets.threadCount() ?? System.coreCount
        let place = try store.place()
        try addTLS(to: &settings, logger: logger)
        let lock = try place.lock()
        defer { _ = lock }
        let opened = try await place.open()
        let workers = HeavyWorkThreads(for: roomSettings.heavyWork)
        do {
            try await prepareSchema(of: opened, logger: logger)
            try await checkWriting(opened, logger: logger)
            try await serve(opened, settings, roomSettings, threads: threads, workers, logger)
        } catch {
            await workers.stop()
            await opened.close()
            throw error
        }
        await workers.stop()
        if let fault = await opened.close() {
            logger.warning("\(OpenStore.keepsItsLog)", metadata: ["cause": "\(fault.explanation)"])
        }
        logger.info("Stopped")
    }

    // MARK: Settings

    private func serverSettings(node: String) throws -> RoomServerSettings {
        var settings = RoomServerSettings(version: Version.current, node: node)
        settings.host = Self.withoutBrackets(host ?? Environment["BACKLINE_HOST"] ?? settings.host)
        settings.port = try Setting.count(port, "port", in: 0...65_535) ?? settings.port
        settings.metricsAddress = try Setting.value(
            metricsAddress, "metrics-address",
            expected: "HOST:PORT, for example 127.0.0.1:9464 or [::1]:9464, with a port from 0 to 65535"
        ) { RoomServerSettings.MetricsAddress($0) }
        let origins =
            origin
            + (origin.isEmpty ? (Environment["BACKLINE_ORIGIN"] ?? "").split(separator: ",").map(String.init) : [])
        settings.allowedOrigins = Set(try origins.map(Self.checkedOrigin))
        settings.page = try page.source()
        try sockets.apply(to: &settings, isBehindProxy: plain || Environment.isSet("BACKLINE_PLAIN"))
        return settings
    }

    private func roomSettings() throws -> RoomHostSettings {
        var settings = RoomHostSettings()
        func number(
            _ flag: String?, _ name: String, in range: ClosedRange<Double>, _ unit: String
        ) throws -> Double? {
            try Setting.number(flag, name, in: range, unit: unit)
        }
        if let size = try number(locationPrecisionMeters, "location-precision-meters", in: 0...1_000_000, "meters") {
            settings.locationPrecisionMeters = size
        }
        if let seconds = try number(
            sessionLifetimeSeconds, "session-lifetime-seconds", in: 10...31_536_000, "seconds")
        {
            settings.sessionLifetimeMs = Int64(seconds * 1_000)
        }
        if let seconds = try number(presenceGraceSeconds, "presence-grace-seconds", in: 0...3_600, "seconds") {
            settings.presence.grace = .nanoseconds(Int64(seconds * 1_000_000_000))
        }
        if let days = try number(retainClosedRooms, "retain-closed-rooms", in: 0...36_500, "days") {
            settings.retainClosedRoomsMs = Int64(days * 86_400_000)
        }
        try reads.apply(to: &settings)
        try pools.apply(to: &settings)
        return settings
    }

    /// An address without the brackets that it has in a link.
    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") && host.contains(":") ? String(host.dropFirst().dropLast()) : host
    }

    private static func checkedOrigin(_ text: String) throws -> WebOrigin {
        guard let origin = WebOrigin(text) else {
            throw Failure.usage("--origin: '\(text)' is not an origin; expected, for example, https://example.org")
        }
        return origin
    }

    private func addTLS(to settings: inout RoomServerSettings, logger: Logger) throws {
        let certificate = certificate ?? Environment["BACKLINE_CERTIFICATE"]
        let key = key ?? Environment["BACKLINE_KEY"]
        if try plain || Environment.isSet("BACKLINE_PLAIN") {
            guard certificate == nil, key == nil else {
                throw Failure.usage("--plain: a certificate and a key have no effect without TLS")
            }
            return
        }
        switch (certificate, key) {
        case (let certificate?, let key?):
            do throws(TLSFault) {
                settings.tls = try ServerCertificate(chain: certificate, key: key)
            } catch {
                throw Failure.usage(error.description)
            }
        case (nil, nil):
            do throws(TLSFault) {
                // A certificate always covers localhost, and cannot cover the wildcard addresses.
                let isWildcard = ["0.0.0.0", "::"].contains(settings.host)
                let names = isWildcard ? NetworkAddresses.reaching(settings.host) : [settings.host]
                let made = try DevelopmentCertificate.load(orMakeIn: store.directory, hostNames: names)
                logger.notice(
                    "Serving with a development certificate; give --certificate and --key for a real one",
                    metadata: ["certificate": "\(made.certificatePath)", "sha256": "\(made.fingerprint.colonHex)"])
                logger.notice(
                    "Browsers and phones that are told to trust its authority trust the certificate",
                    metadata: ["authority": "\(made.authorityPath)", "sha256": "\(made.authorityFingerprint.colonHex)"])
                settings.tls = try ServerCertificate(chain: made.certificatePath, key: made.keyPath)
                settings.developmentAuthority = made.authority
            } catch {
                let reason = "--data: \(error.description)"
                if case .file(_, let cause) = error { throw Failure(reason, cause) }
                throw Failure.usage(reason)
            }
        default:
            throw Failure.usage("--certificate and --key belong together: give both or neither")
        }
    }

    // MARK: Schema

    /// Creates the schema of an empty database; any other schema must be the one that this program knows.
    private func prepareSchema(of opened: OpenStore, logger: Logger) async throws {
        do {
            switch try await reachable(opened, logger: logger) {
            case .current:
                guard try await opened.archive.hasUnfinishedImport() else { return }
                throw Failure.configuration(
                    "an import into this event log was not finished: empty it, run 'backline migrate' and import again")
            case .empty:
                let applied = try await opened.migrate()
                logger.notice(
                    "The event log was empty; its schema was made",
                    metadata: ["store": "\(opened.name)", "migrations": "\(applied.count)"])
            case .behind(let pending):
                throw Failure.schemaLacks(pending.count)
            case .refused(let refusal):
                throw Failure.configuration("the schema is refused: \(refusal.description)")
            }
        } catch let fault as StorageFault {
            throw Failure(fault)
        }
    }

    /// Makes sure that the log can be written, as far as waiting does not help.
    ///
    /// A full disk, or commits that wait for a standby, do not keep a server from showing its rooms.
    private func checkWriting(_ opened: OpenStore, logger: Logger) async throws {
        for attempt in 1... {
            do throws(StorageFault) {
                return try await opened.eventStore.probeWriting()
            } catch {
                guard error.isReadOnly || error.isWrongRequest else { return }
                // Each connection of the store finds out by itself. A standby gets a schema that was just made later.
                let isAnotherServers = error.isReadOnly || error.cause?.code == "42P01"
                guard isAnotherServers, opened.hasOtherServers, attempt < 5 * Self.attempts else {
                    throw Failure(error, "the event log cannot be written")
                }
                if attempt == 1 {
                    logger.warning(
                        "The event log cannot be written at this server; trying the others",
                        metadata: ["cause": "\(error.explanation)"])
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// The attempts to reach a database that may still be starting, one a second.
    private static let attempts = 30

    /// Waits for a database that may still be starting.
    private func reachable(_ opened: OpenStore, logger: Logger) async throws -> SchemaState {
        var told: String?
        for _ in 0..<Self.attempts {
            do throws(StorageFault) {
                return try await opened.schemaState()
            } catch {
                guard case .unreachable(let cause) = error, !error.refusesSettings else { throw error }
                if told != cause.message {
                    logger.warning(
                        "The event log is out of reach; trying again", metadata: ["cause": "\(cause.message)"])
                }
                told = cause.message
                try await Task.sleep(for: .seconds(1))
            }
        }
        return try await opened.schemaState()
    }

    // MARK: Serving

    private static let droppedLines = "backline_log_lines_dropped_total"

    private func serve(
        _ opened: OpenStore, _ settings: RoomServerSettings, _ roomSettings: RoomHostSettings, threads: Int,
        _ workers: HeavyWorkThreads, _ logger: Logger
    ) async throws {
        var roomSettings = roomSettings
        roomSettings.logIsShared = opened.isShared
        roomSettings.answers.compressState = RoomServer.compress
        // One connection fewer than the store has: the last one is kept for reads.
        roomSettings.flushesSideBySide = opened.isShared ? 3 : 1
        let bus = try opened.makeNodeBus()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let registry = PrometheusRegistry()
        registry.describe(RoomMetrics.help)
        registry.describe([Self.droppedLines: "Log lines that were not written because nobody read them."])
        let dropped = Counter(label: Self.droppedLines, factory: registry)
        Console.log.whenDropped { dropped.increment(by: $0) }
        let rooms = RoomHost(
            store: opened.eventStore, statistics: try statistics.isCounting() ? opened.eventStore : nil,
            settings: roomSettings, loops: group.makeIterator().map { $0 }, clock: .system(), bus: bus,
            node: settings.node, threads: { workers.executor(of: $0) },
            metrics: registry, logger: logger)
        let scheme = settings.tls == nil ? "http" : "https"
        let manager = ServiceManager(logger: logger)
        let server = RoomServer(
            settings: settings, rooms: rooms, group: group, registry: registry, logger: logger
        ) { address in
            let listening = "listening on \(scheme)://\(Self.text(of: address, host: settings.host))"
            let pages = Self.pageAddresses(settings, port: address.port ?? 0).map { "page \($0)" }
            // First, so that nobody who has read the line can have had the server stop before.
            let lines = [listening] + pages
            manager.isReady(lines.joined(separator: ", "))
            Console.announce(lines.joined(separator: "\n"))
        }
        // Services stop in reverse order: first the clients leave, then their requests are finished.
        let services = ServiceGroup(
            services: [RoomHousekeeping(rooms: rooms), server], logger: logger)
        // Installed before anybody can know that the server runs.
        let signals = await ServerSignals()
        do {
            try await withThrowingTaskGroup { tasks in
                let certificate = settings.tls.map { CertificateWatch($0, clock: rooms.clock, logger: logger) }
                tasks.addTask {
                    await signals.run {
                        manager.isStopping()
                        await services.triggerGracefulShutdown()
                    } reload: {
                        // A signal to stop is heard while a disk is slow.
                        Task { certificate?.reload() }
                    }
                }
                // Not among the tasks that are waited for at the end: a disk may not answer.
                let watching = Task { await certificate?.run() }
                defer { watching.cancel() }
                tasks.addTask { await manager.keepAlive(group.makeIterator().map { $0 }, clock: rooms.clock) }
                try await services.run()
                tasks.cancelAll()
            }
        } catch let error as IOError {
            try? await group.shutdownGracefully()
            throw Failure.unavailable("cannot listen on \(settings.host):\(settings.port): \(error.reason)")
        } catch let fault as ListeningFault {
            try? await group.shutdownGracefully()
            throw Failure.unavailable("--metrics-address: cannot listen on \(fault.address): \(fault.reason)")
        } catch let fault as HostLookup.Fault {
            try? await group.shutdownGracefully()
            throw Failure.usage("--host: \(fault.message)")
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    /// The addresses at which browsers find the page: none without a page, and where a proxy or somebody else's
    /// certificate decides on the name.
    private static func pageAddresses(_ settings: RoomServerSettings, port: Int) -> [String] {
        guard settings.page.isThere, settings.tls != nil else { return [] }
        let hosts =
            switch settings.host {
            case "127.0.0.1", "::1": ["localhost"]
            case "0.0.0.0", "::":
                settings.developmentAuthority == nil ? [] : NetworkAddresses.reaching(settings.host) + ["localhost"]
            default: [settings.host]
            }
        return hosts.map { "https://\($0.contains(":") ? "[\($0)]" : $0):\(port)/" }
    }

    private static func text(of address: SocketAddress, host: String) -> String {
        host.contains(":") ? "[\(host)]:\(address.port ?? 0)" : "\(host):\(address.port ?? 0)"
    }
}

/// Runs the rooms until the server has closed all clients' connections.
private struct RoomHousekeeping: Service {
    let rooms: RoomHost

    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await rooms.run()
        } onCancelOrGracefulShutdown: {
            rooms.shutDown()
        }
    }
}

/// The least severe level that is logged.
struct LogLevel: ExpressibleByArgument {
    let level: Logger.Level

    init?(argument: String) {
        guard let level = Logger.Level(rawValue: argument) else { return nil }
        self.level = level
    }

    static let allValueStrings = Logger.Level.allCases.map(\.rawValue)
}

/// This process among all processes that serve the same rooms.
private enum Node {
    /// Makes a name that no other process has.
    static func makeName() -> String {
        "node-" + String(UInt32.random(in: .min ... .max), radix: 16)
    }
}
