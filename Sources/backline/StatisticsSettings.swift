import ArgumentParser
import RoomService

/// The settings of what is counted.
struct StatisticsSettings: ParsableArguments {
    @Flag(
        help:
            "Count nothing, and answer no questions about counts. Turned on again, the server counts what was missed. [BACKLINE_NO_STATISTICS=true]"
    )
    var noStatistics = false

    @Option(
        help: ArgumentHelp(
            "Numbers across rooms name only songs that so many rooms made by distinct sessions have played. [BACKLINE_STATISTICS_MINIMUM_ROOMS; default: 5]",
            valueName: "n"))
    var statisticsMinimumRooms: String?

    func apply(to settings: inout RoomHostSettings) throws {
        if let least = try Setting.count(statisticsMinimumRooms, "statistics-minimum-rooms", in: 2...1_000_000) {
            settings.counting.leastOwners = least
        }
    }

    /// Whether what happens in rooms is counted.
    func isCounting() throws -> Bool { try !(noStatistics || Environment.isSet("BACKLINE_NO_STATISTICS")) }
}
