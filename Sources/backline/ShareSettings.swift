import ArgumentParser
import RoomService

/// The limits on what sessions and addresses write to the event log and send to each other.
struct ShareSettings: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Events that one session may write to one room's log in a minute, 5 times as many at once. A command counts once more for each 256 bytes that it writes. More are answered rate_limited. 0: any number. [BACKLINE_MAX_EVENTS_PER_ROOM; default: 12000]",
            valueName: "n"))
    var maxEventsPerRoom: String?

    @Option(
        help: ArgumentHelp(
            "Events that one session may write to all rooms together in a minute, counted the same way, 5 times as many at once. A new room counts 20. 0: any number. [BACKLINE_MAX_EVENTS_PER_SESSION; default: 24000]",
            valueName: "n"))
    var maxEventsPerSession: String?

    @Option(
        help: ArgumentHelp(
            "Events that all sessions of one address (IPv6: one /64) may write in a minute, counted the same way, 5 times as many at once. 0: any number. [BACKLINE_MAX_EVENTS_PER_ADDRESS; default: 60000, with --plain and without --trusted-proxies 0]",
            valueName: "n"))
    var maxEventsPerAddress: String?

    @Option(
        help: ArgumentHelp(
            "Signals that one session may send in a second, 5 times as many at once, and a quarter of that to any one member. A signal counts once more for each KiB. More are answered rate_limited. 0: any number. [BACKLINE_MAX_SIGNALS_PER_SECOND; default: 200]",
            valueName: "n"))
    var maxSignalsPerSecond: String?

    /// Applies the settings that are given; without clients' addresses, addresses have no limit.
    func apply(to settings: inout RoomHostSettings, knowsAddresses: Bool) throws {
        if !knowsAddresses {
            settings.shares.maximumEventsPerAddress = 0
            settings.shares.maximumReadKiBPerAddress = 0
        }
        func set(_ flag: String?, _ name: String, _ target: inout Int) throws {
            if let value = try Setting.count(flag, name, in: 0...1_000_000_000) { target = value }
        }
        try set(maxEventsPerRoom, "max-events-per-room", &settings.shares.maximumEventsPerRoom)
        try set(maxEventsPerSession, "max-events-per-session", &settings.shares.maximumEventsPerSession)
        try set(maxEventsPerAddress, "max-events-per-address", &settings.shares.maximumEventsPerAddress)
        try set(maxSignalsPerSecond, "max-signals-per-second", &settings.shares.maximumSignalsPerSecond)
    }
}
