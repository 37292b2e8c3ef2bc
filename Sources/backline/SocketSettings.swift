import ArgumentParser
import NIOCore
import PushServer

/// The limits and times of connections.
struct SocketSettings: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Event loops, one thread each. [BACKLINE_THREADS; default: the number of processors]", valueName: "n"))
    var threads: Int?

    @Flag(
        help: "Compress no messages, also for clients that offer it. [BACKLINE_NO_COMPRESSION=true]")
    var noCompression = false

    @Option(
        help: ArgumentHelp(
            "Connections from one address (IPv6: one /64); more are answered 429. 0: any number. [BACKLINE_MAX_CONNECTIONS_PER_ADDRESS; default: 16384, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxConnectionsPerAddress: Int?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Addresses, or networks such as 10.0.0.0/8, of proxies: where their requests come from is what they say in X-Forwarded-For. [BACKLINE_TRUSTED_PROXIES, separated by commas; default: none]",
            valueName: "network"))
    var trustedProxies: [String] = []

    @Option(
        help: ArgumentHelp(
            "Open sockets of one session; more are answered 429. 0: any number. [BACKLINE_MAX_SOCKETS_PER_SESSION; default: 32]",
            valueName: "n"))
    var maxSocketsPerSession: Int?

    @Option(
        help: ArgumentHelp(
            "Messages a second on one socket, five times as many at once: each frame counts, pongs and fragments too, and once more for each 4 KiB that it has, inflated or not, or that the snapshot it asks for has; more are answered rate_limited, and who goes on is closed with 4429. 0: any number. [BACKLINE_MAX_MESSAGES_PER_SECOND; default: 2000]",
            valueName: "n"))
    var maxMessagesPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "The same of all sockets of one session together; more are answered rate_limited. 0: any number. [BACKLINE_MAX_MESSAGES_PER_SESSION; default: 4000]",
            valueName: "n"))
    var maxMessagesPerSession: Int?

    @Option(
        help: ArgumentHelp(
            "The same of all sockets of one address (IPv6: one /64), without answers; more are answered rate_limited. 0: any number. [BACKLINE_MAX_MESSAGES_PER_ADDRESS; default: 40000, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxMessagesPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "Sessions made from one address (IPv6: one /64) in a minute, five times as many at once; more are answered 429. 0: any number. [BACKLINE_MAX_SESSIONS_PER_MINUTE; default: 600, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxSessionsPerMinute: Int?

    @Option(
        help: ArgumentHelp(
            "Requests and opening handshakes from one address (IPv6: one /64) in a second, five times as many at once; more are answered 429. 0: any number. [BACKLINE_MAX_REQUESTS_PER_ADDRESS; default: 2000, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxRequestsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "Requests of one session in a second, five times as many at once; more are answered 429. 0: any number. [BACKLINE_MAX_REQUESTS_PER_SESSION; default: 500]",
            valueName: "n"))
    var maxRequestsPerSession: Int?

    @Option(
        help: ArgumentHelp(
            "Commands of one session in one room in a second, on all its connections, five times as many at once, one counting once more for each 50 tracks or entries that it names; more are answered rate_limited. 0: any number. [BACKLINE_MAX_COMMANDS_PER_SECOND; default: 200]",
            valueName: "n"))
    var maxCommandsPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "Nearby searches and new nearby subscriptions of one session in a minute, five times as many at once; more are answered rate_limited. 0: any number. [BACKLINE_MAX_SEARCHES_PER_MINUTE; default: 120]",
            valueName: "n"))
    var maxSearchesPerMinute: Int?

    @Option(
        help: ArgumentHelp(
            "Nearby subscriptions of one socket; more are answered limit_reached. [BACKLINE_MAX_NEARBY_PER_CONNECTION; default: 16]",
            valueName: "n"))
    var maxNearbyPerConnection: Int?

    @Option(
        help: ArgumentHelp(
            "The longest message on a socket and the longest body of a request; longer ones are closed with 1009 and answered 413. [BACKLINE_MAX_MESSAGE_BYTES; default: 262144]",
            valueName: "n"))
    var maxMessageBytes: Int?

    @Option(
        help: ArgumentHelp(
            "The longest head of a request; longer ones are answered 431. [BACKLINE_MAX_HEAD_BYTES; default: 16384]",
            valueName: "n"))
    var maxHeadBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Deltas that wait for one socket's client; above it they are dropped, and a snapshot comes instead once it keeps up. [BACKLINE_MAX_OUTGOING_BYTES; default: 49152]",
            valueName: "n"))
    var maxOutgoingBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes that wait for all clients together, what many share not counted; while there is no room, long answers are refused with rate_limited. 0: any number. [BACKLINE_MAX_WAITING_BYTES; default: 268435456]",
            valueName: "n"))
    var maxWaitingBytes: Int?

    @Option(
        help: ArgumentHelp(
            "How many of them may wait for clients of one address (IPv6: one /64). 0: any number. [BACKLINE_MAX_WAITING_BYTES_PER_ADDRESS; default: 67108864, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxWaitingBytesPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "A connection must have made its first request by then. [BACKLINE_HANDSHAKE_TIMEOUT_SECONDS; default: 10]",
            valueName: "s"))
    var handshakeTimeoutSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "Between two pings, and two beats, on a socket. [BACKLINE_PING_INTERVAL_SECONDS; default: 25, less with a shorter silence limit]",
            valueName: "s"))
    var pingIntervalSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "A socket whose client sends nothing for so long, not even pongs, is closed with 4408. [BACKLINE_SILENCE_LIMIT_SECONDS; default: 60]",
            valueName: "s"))
    var silenceLimitSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "A socket whose client takes nothing for so long is closed with 1013. [BACKLINE_STALL_LIMIT_SECONDS; default: 30]",
            valueName: "s"))
    var stallLimitSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "A stop spreads the clients' reconnects over at most so long. [BACKLINE_DRAIN_WINDOW_SECONDS; default: 20]",
            valueName: "s"))
    var drainWindowSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "After the signal to stop /readyz answers 503 for so long before clients are sent away, so that a load balancer sends them elsewhere. [BACKLINE_DRAIN_DELAY_SECONDS; default: 0]",
            valueName: "s"))
    var drainDelaySeconds: Double?

    /// How many event loops there are to be; nil: as many as processors.
    func threadCount() throws -> Int? {
        try count(threads, "threads", in: 1...1_024)
    }

    /// Sets what is given.
    func apply(to settings: inout RoomServerSettings, isBehindProxy: Bool) throws {
        settings.trustedProxies = try proxies()
        // All clients of a proxy have its address, unless it says theirs.
        if isBehindProxy, settings.trustedProxies.isEmpty {
            settings.maximumConnectionsPerAddress = 0
            settings.maximumMessagesPerAddress = 0
            settings.maximumSessionsPerMinute = 0
            settings.maximumRequestsPerAddress = 0
            settings.maximumWaitingBytesPerAddress = 0
        }
        if try noCompression || Environment.isSet("BACKLINE_NO_COMPRESSION") { settings.compresses = false }
        func set(_ value: Int?, _ target: inout Int) { if let value { target = value } }
        func set(_ value: TimeAmount?, _ target: inout TimeAmount) { if let value { target = value } }
        set(
            try count(maxConnectionsPerAddress, "max-connections-per-address", in: 0...1 << 30),
            &settings.maximumConnectionsPerAddress)
        set(
            try count(maxSocketsPerSession, "max-sockets-per-session", in: 0...1_000_000),
            &settings.maximumSocketsPerSession)
        set(
            try count(maxMessagesPerSecond, "max-messages-per-second", in: 0...1_000_000),
            &settings.maximumMessagesPerSecond)
        set(
            try count(maxMessagesPerSession, "max-messages-per-session", in: 0...1_000_000_000),
            &settings.maximumMessagesPerSession)
        set(
            try count(maxMessagesPerAddress, "max-messages-per-address", in: 0...1_000_000_000),
            &settings.maximumMessagesPerAddress)
        set(
            try count(maxSessionsPerMinute, "max-sessions-per-minute", in: 0...1_000_000),
            &settings.maximumSessionsPerMinute)
        set(
            try count(maxRequestsPerAddress, "max-requests-per-address", in: 0...1_000_000),
            &settings.maximumRequestsPerAddress)
        set(
            try count(maxRequestsPerSession, "max-requests-per-session", in: 0...1_000_000),
            &settings.maximumRequestsPerSession)
        set(
            try count(maxCommandsPerSecond, "max-commands-per-second", in: 0...1_000_000),
            &settings.maximumCommandsPerSecond)
        set(
            try count(maxSearchesPerMinute, "max-searches-per-minute", in: 0...1_000_000),
            &settings.maximumSearchesPerMinute)
        set(
            try count(maxNearbyPerConnection, "max-nearby-per-connection", in: 0...10_000),
            &settings.maximumNearbyPerConnection)
        set(
            try count(maxMessageBytes, "max-message-bytes", in: 1_024...64 << 20), &settings.maximumMessageLength)
        set(try count(maxHeadBytes, "max-head-bytes", in: 1_024...1 << 20), &settings.maximumHeadLength)
        set(
            try count(maxOutgoingBytes, "max-outgoing-bytes", in: 1_024...1 << 30), &settings.maximumOutgoingBytes)
        set(try count(maxWaitingBytes, "max-waiting-bytes", in: 0...1 << 40), &settings.maximumWaitingBytes)
        set(
            try count(maxWaitingBytesPerAddress, "max-waiting-bytes-per-address", in: 0...1 << 40),
            &settings.maximumWaitingBytesPerAddress)
        set(try time(handshakeTimeoutSeconds, "handshake-timeout-seconds"), &settings.handshakeTimeout)
        set(try time(silenceLimitSeconds, "silence-limit-seconds"), &settings.silenceLimit)
        if let interval = try time(pingIntervalSeconds, "ping-interval-seconds") {
            settings.pingInterval = interval
            guard interval < settings.silenceLimit else {
                throw Failure.usage(
                    "--ping-interval-seconds: must be shorter than --silence-limit-seconds: a client that has nothing to say answers pings"
                )
            }
        } else {
            // Somewhat less than half, as 25 s are of 60 s.
            settings.pingInterval = min(settings.pingInterval, .nanoseconds(settings.silenceLimit.nanoseconds / 12 * 5))
        }
        set(try time(stallLimitSeconds, "stall-limit-seconds"), &settings.stallLimit)
        set(try time(drainDelaySeconds, "drain-delay-seconds", from: 0), &settings.drainDelay)
        set(try time(drainWindowSeconds, "drain-window-seconds", from: 0), &settings.drainWindow)
    }

    private func proxies() throws -> [AddressNetwork] {
        let given = trustedProxies.isEmpty ? [Environment["BACKLINE_TRUSTED_PROXIES"] ?? ""] : trustedProxies
        return try given.flatMap { $0.split { ", ".contains($0) } }.map { text in
            guard let network = AddressNetwork(text) else {
                throw Failure.usage(
                    "--trusted-proxies: '\(text)' is no address and no network; expected, for example, 10.0.0.0/8")
            }
            return network
        }
    }

    private func count(_ flag: Int?, _ name: String, in range: ClosedRange<Int>) throws -> Int? {
        try Environment.count(flag, name, in: range)
    }

    private func time(_ flag: Double?, _ name: String, from least: Double = 0.1) throws -> TimeAmount? {
        guard let value = try flag ?? Environment.value(Environment.variable(name)) else { return nil }
        guard (least...86_400.0).contains(value) else {
            throw Failure.usage("--\(name): \(value) is not valid; expected \(least) to 86400 seconds")
        }
        return .nanoseconds(Int64(value * 1e9))
    }
}
