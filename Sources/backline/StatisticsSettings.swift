import ArgumentParser

/// The settings of what is counted.
struct StatisticsSettings: ParsableArguments {
    @Flag(
        help:
            "Count nothing, and answer no questions about counts. Turned on again, the server counts what was missed. [BACKLINE_NO_STATISTICS=true]"
    )
    var noStatistics = false

    /// Whether what happens in rooms is counted.
    func isCounting() throws -> Bool { try !(noStatistics || Environment.isSet("BACKLINE_NO_STATISTICS")) }
}
