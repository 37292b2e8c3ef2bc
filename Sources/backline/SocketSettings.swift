import ArgumentParser
import NIOCore
import PushServer

/// The limits and times of connections.
struct SocketSettings: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Event loops, one thread each. [BACKLINE_THREADS; default: the number of processors]", valueName: "n"))
    var threads: String?

    @Flag(
        help: "Compress no messages, not even for clients that offer it. [BACKLINE_NO_COMPRESSION=true]")
    var noCompression = false

    @Option(
        help: ArgumentHelp(
            "Open connections of one address (IPv6: one /64). A quarter of them, but at least 64, may be without a request so far. More are answered 429, or closed. 0: any number. [BACKLINE_MAX_CONNECTIONS_PER_ADDRESS; default: 16384, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxConnectionsPerAddress: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Addresses and networks (such as 10.0.0.0/8) of proxies. A request from one of them counts for the address in its X-Forwarded-For, and X-Forwarded-Host, X-Forwarded-Port or Forwarded may name the address of the page. [BACKLINE_TRUSTED_PROXIES, separated by commas; default: none]",
            valueName: "network"))
    var trustedProxies: [String] = []

    @Option(
        help: ArgumentHelp(
            "Open sockets of one session. More are answered 429. 0: any number. [BACKLINE_MAX_SOCKETS_PER_SESSION; default: 32]",
            valueName: "n"))
    var maxSocketsPerSession: String?

    @Option(
        help: ArgumentHelp(
            "Frames a second on one socket, 5 times as many at once: messages, fragments, pings and pongs. A frame counts once more for each KiB that it has, inflated or not, and for each 4 KiB of the answer to a subscribe. More are answered rate_limited; a client that goes on regardless is closed with 4429. 0: any number. [BACKLINE_MAX_MESSAGES_PER_SECOND; default: 2000]",
            valueName: "n"))
    var maxMessagesPerSecond: String?

    @Option(
        help: ArgumentHelp(
            "Frames a second on all sockets of one session together, 5 times as many at once, counted as for --max-messages-per-second but without answers. More are answered rate_limited. 0: any number. [BACKLINE_MAX_MESSAGES_PER_SESSION; default: 4000]",
            valueName: "n"))
    var maxMessagesPerSession: String?

    @Option(
        help: ArgumentHelp(
            "Frames a second on all sockets of one address (IPv6: one /64) together, 5 times as many at once, counted as for --max-messages-per-session. More are answered rate_limited. 0: any number. [BACKLINE_MAX_MESSAGES_PER_ADDRESS; default: 40000, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxMessagesPerAddress: String?

    @Option(
        help: ArgumentHelp(
            "New sessions of one address (IPv6: one /64) in a minute, 5 times as many at once. More are answered 429. 0: any number. [BACKLINE_MAX_SESSIONS_PER_MINUTE; default: 600, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxSessionsPerMinute: String?

    @Option(
        help: ArgumentHelp(
            "Requests and opening handshakes of one address (IPv6: one /64) in a second, 5 times as many at once. More are answered 429. 0: any number. [BACKLINE_MAX_REQUESTS_PER_ADDRESS; default: 2000, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxRequestsPerAddress: String?

    @Option(
        help: ArgumentHelp(
            "Requests of one session in a second, 5 times as many at once. More are answered 429. 0: any number. [BACKLINE_MAX_REQUESTS_PER_SESSION; default: 500]",
            valueName: "n"))
    var maxRequestsPerSession: String?

    @Option(
        help: ArgumentHelp(
            "Commands of one session in one room in a second, on all its connections together, 5 times as many at once. A command counts once more for each 50 tracks, entries or members that it names. More are answered rate_limited. 0: any number. [BACKLINE_MAX_COMMANDS_PER_SECOND; default: 200]",
            valueName: "n"))
    var maxCommandsPerSecond: String?

    @Option(
        help: ArgumentHelp(
            "Nearby searches, and new subscriptions to nearby rooms and to statistics, of one session in a minute; 5 times as many at once. More are answered rate_limited. 0: any number. [BACKLINE_MAX_SEARCHES_PER_MINUTE; default: 120]",
            valueName: "n"))
    var maxSearchesPerMinute: String?

    @Option(
        help: ArgumentHelp(
            "Look-ups of rooms that do not exist, by one session in a minute, 5 times as many at once. Above it, look-ups by code are answered rate_limited. 0: any number. [BACKLINE_MAX_FAILED_LOOKUPS_PER_MINUTE; default: 60]",
            valueName: "n"))
    var maxFailedLookupsPerMinute: String?

    @Option(
        help: ArgumentHelp(
            "Look-ups of rooms that do not exist, by all sessions of one address (IPv6: one /64) in a minute, 5 times as many at once. 0: any number. [BACKLINE_MAX_FAILED_LOOKUPS_PER_ADDRESS; default: 600, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxFailedLookupsPerAddress: String?

    @Option(
        help: ArgumentHelp(
            "New members of one room from one address (IPv6: one /64) in a minute, and as many at once. More are answered rate_limited. 0: any number. [BACKLINE_MAX_JOINS_PER_MINUTE; default: 600, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxJoinsPerMinute: String?

    @Option(
        help: ArgumentHelp(
            "Nearby subscriptions of one socket. More are answered limit_reached. [BACKLINE_MAX_NEARBY_PER_CONNECTION; default: 16]",
            valueName: "n"))
    var maxNearbyPerConnection: String?

    @Option(
        help: ArgumentHelp(
            "The longest message on a socket (a longer one closes it with 1009) and the longest body of a request (a longer one is answered 413). [BACKLINE_MAX_MESSAGE_BYTES; default: 262144]",
            valueName: "n"))
    var maxMessageBytes: String?

    @Option(
        help: ArgumentHelp(
            "The longest head of a request. A longer one is answered 431. [BACKLINE_MAX_HEAD_BYTES; default: 16384]",
            valueName: "n"))
    var maxHeadBytes: String?

    @Option(
        help: ArgumentHelp(
            "Bytes of deltas that wait for one socket's client. Above it they are dropped, and one snapshot replaces them once the client keeps up. [BACKLINE_MAX_OUTGOING_BYTES; default: 49152]",
            valueName: "n"))
    var maxOutgoingBytes: String?

    @Option(
        help: ArgumentHelp(
            "Bytes that wait for all clients together, and bytes of their unfinished messages and bodies; shared bytes count once. At the limit, long answers and bodies are refused with rate_limited, and sockets with long unfinished messages are closed. 0: any number. [BACKLINE_MAX_WAITING_BYTES; default: 268435456]",
            valueName: "n"))
    var maxWaitingBytes: String?

    @Option(
        help: ArgumentHelp(
            "The part of --max-waiting-bytes that the clients of one address (IPv6: one /64) may use. 0: any number. [BACKLINE_MAX_WAITING_BYTES_PER_ADDRESS; default: 67108864, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxWaitingBytesPerAddress: String?

    @Option(
        help: ArgumentHelp(
            "The longest time from the opening of a connection to its first request, and for the head of a later request. [BACKLINE_HANDSHAKE_TIMEOUT_SECONDS; default: 10]",
            valueName: "s"))
    var handshakeTimeoutSeconds: String?

    @Option(
        help: ArgumentHelp(
            "A request's body may take this long, and a second more for each KiB of it that has arrived. [BACKLINE_BODY_GRACE_SECONDS; default: 10]",
            valueName: "s"))
    var bodyGraceSeconds: String?

    @Option(
        help: ArgumentHelp(
            "An HTTP connection on which nothing happens for this long is closed. [BACKLINE_HTTP_IDLE_SECONDS; default: 130]",
            valueName: "s"))
    var httpIdleSeconds: String?

    @Option(
        help: ArgumentHelp(
            "Time between two pings, and between two beats, on a socket. [BACKLINE_PING_INTERVAL_SECONDS; default: 25, less with a shorter silence limit]",
            valueName: "s"))
    var pingIntervalSeconds: String?

    @Option(
        help: ArgumentHelp(
            "A socket whose client sends nothing for this long, not even pongs, is closed with 4408. [BACKLINE_SILENCE_LIMIT_SECONDS; default: 60]",
            valueName: "s"))
    var silenceLimitSeconds: String?

    @Option(
        help: ArgumentHelp(
            "A connection whose client takes nothing of what it is sent for this long is closed; a socket with 1013. [BACKLINE_STALL_LIMIT_SECONDS; default: 30]",
            valueName: "s"))
    var stallLimitSeconds: String?

    @Option(
        help: ArgumentHelp(
            "The longest time over which a stop spreads the clients' reconnects. [BACKLINE_DRAIN_WINDOW_SECONDS; default: 20]",
            valueName: "s"))
    var drainWindowSeconds: String?

    @Option(
        help: ArgumentHelp(
            "After the signal to stop, /readyz answers 503 for this long before clients are disconnected, so that a load balancer uses other servers. [BACKLINE_DRAIN_DELAY_SECONDS; default: 0]",
            valueName: "s"))
    var drainDelaySeconds: String?

    /// Returns the number of event loops; nil for as many as processors.
    func threadCount() throws -> Int? {
        try Setting.count(threads, "threads", in: 1...1_024)
    }

    /// Applies the settings that are given.
    func apply(to settings: inout RoomServerSettings, isBehindProxy: Bool) throws {
        settings.trustedProxies = try proxies()
        // All clients of a proxy have the proxy's address, unless it forwards theirs.
        if isBehindProxy, settings.trustedProxies.isEmpty {
            settings.rates.maximumConnectionsPerAddress = 0
            settings.rates.maximumMessagesPerAddress = 0
            settings.rates.maximumSessionsPerMinute = 0
            settings.rates.maximumRequestsPerAddress = 0
            settings.rates.maximumFailedLookupsPerAddress = 0
            settings.rates.maximumJoinsPerMinute = 0
            settings.sizes.maximumWaitingBytesPerAddress = 0
        }
        if try noCompression || Environment.isSet("BACKLINE_NO_COMPRESSION") { settings.compresses = false }
        func set(_ value: Int?, _ target: inout Int) { if let value { target = value } }
        func set(_ value: TimeAmount?, _ target: inout TimeAmount) { if let value { target = value } }
        set(
            try Setting.count(maxConnectionsPerAddress, "max-connections-per-address", in: 0...1 << 30),
            &settings.rates.maximumConnectionsPerAddress)
        set(
            try Setting.count(maxSocketsPerSession, "max-sockets-per-session", in: 0...1_000_000),
            &settings.rates.maximumSocketsPerSession)
        set(
            try Setting.count(maxMessagesPerSecond, "max-messages-per-second", in: 0...1_000_000),
            &settings.rates.maximumMessagesPerSecond)
        set(
            try Setting.count(maxMessagesPerSession, "max-messages-per-session", in: 0...1_000_000_000),
            &settings.rates.maximumMessagesPerSession)
        set(
            try Setting.count(maxMessagesPerAddress, "max-messages-per-address", in: 0...1_000_000_000),
            &settings.rates.maximumMessagesPerAddress)
        set(
            try Setting.count(maxSessionsPerMinute, "max-sessions-per-minute", in: 0...1_000_000),
            &settings.rates.maximumSessionsPerMinute)
        set(
            try Setting.count(maxRequestsPerAddress, "max-requests-per-address", in: 0...1_000_000),
            &settings.rates.maximumRequestsPerAddress)
        set(
            try Setting.count(maxRequestsPerSession, "max-requests-per-session", in: 0...1_000_000),
            &settings.rates.maximumRequestsPerSession)
        set(
            try Setting.count(maxCommandsPerSecond, "max-commands-per-second", in: 0...1_000_000),
            &settings.rates.maximumCommandsPerSecond)
        set(
            try Setting.count(maxSearchesPerMinute, "max-searches-per-minute", in: 0...1_000_000),
            &settings.rates.maximumSearchesPerMinute)
        set(
            try Setting.count(maxFailedLookupsPerMinute, "max-failed-lookups-per-minute", in: 0...1_000_000),
            &settings.rates.maximumFailedLookupsPerMinute)
        set(
            try Setting.count(maxFailedLookupsPerAddress, "max-failed-lookups-per-address", in: 0...1_000_000),
            &settings.rates.maximumFailedLookupsPerAddress)
        set(
            try Setting.count(maxJoinsPerMinute, "max-joins-per-minute", in: 0...1_000_000),
            &settings.rates.maximumJoinsPerMinute)
        set(
            try Setting.count(maxNearbyPerConnection, "max-nearby-per-connection", in: 0...10_000),
            &settings.rates.maximumNearbyPerConnection)
        set(
            try Setting.count(maxMessageBytes, "max-message-bytes", in: 1_024...64 << 20),
            &settings.sizes.maximumMessageLength)
        set(try Setting.count(maxHeadBytes, "max-head-bytes", in: 1_024...1 << 20), &settings.sizes.maximumHeadLength)
        set(
            try Setting.count(maxOutgoingBytes, "max-outgoing-bytes", in: 1_024...1 << 30),
            &settings.sizes.maximumOutgoingBytes)
        set(
            try Setting.count(maxWaitingBytes, "max-waiting-bytes", in: 0...1 << 40),
            &settings.sizes.maximumWaitingBytes)
        set(
            try Setting.count(maxWaitingBytesPerAddress, "max-waiting-bytes-per-address", in: 0...1 << 40),
            &settings.sizes.maximumWaitingBytesPerAddress)
        set(try Setting.time(handshakeTimeoutSeconds, "handshake-timeout-seconds"), &settings.times.handshakeTimeout)
        set(try Setting.time(bodyGraceSeconds, "body-grace-seconds"), &settings.times.bodyGrace)
        set(try Setting.time(httpIdleSeconds, "http-idle-seconds"), &settings.times.httpIdleTimeout)
        set(try Setting.time(silenceLimitSeconds, "silence-limit-seconds"), &settings.times.silenceLimit)
        if let interval = try Setting.time(pingIntervalSeconds, "ping-interval-seconds") {
            settings.times.pingInterval = interval
            guard interval < settings.times.silenceLimit else {
                throw Failure.usage(
                    "--ping-interval-seconds: must be shorter than --silence-limit-seconds: a client that has nothing to say answers pings"
                )
            }
        } else {
            // Somewhat less than half: 25 s for 60 s.
            settings.times.pingInterval = min(
                settings.times.pingInterval, .nanoseconds(settings.times.silenceLimit.nanoseconds / 12 * 5))
        }
        set(try Setting.time(stallLimitSeconds, "stall-limit-seconds"), &settings.times.stallLimit)
        set(try Setting.time(drainDelaySeconds, "drain-delay-seconds", from: 0), &settings.drainDelay)
        set(try Setting.time(drainWindowSeconds, "drain-window-seconds", from: 0), &settings.drainWindow)
    }

    private func proxies() throws -> [AddressNetwork] {
        let given = trustedProxies.isEmpty ? [Environment["BACKLINE_TRUSTED_PROXIES"] ?? ""] : trustedProxies
        return try given.flatMap { $0.split { ", ".contains($0) } }.map { text in
            guard let network = AddressNetwork(text) else {
                throw Failure.usage(
                    "--trusted-proxies: '\(text)' is neither an address nor a network; expected, for example, 10.0.0.0/8"
                )
            }
            return network
        }
    }
}
