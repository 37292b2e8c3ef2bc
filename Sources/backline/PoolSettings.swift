import ArgumentParser
import RoomDomain
import RoomService

/// The limits on the size of rooms.
struct PoolSettings: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Bytes of tracks in one room's pool; each track counts its JSON and 40 bytes. More are answered limit_reached. A pool that is larger already stays and cannot grow. [BACKLINE_MAX_POOL_BYTES; default: 8388608]",
            valueName: "n"))
    var maxPoolBytes: String?

    /// Applies the settings that are given.
    func apply(to settings: inout RoomHostSettings) throws {
        guard let bytes = try Setting.count(maxPoolBytes, "max-pool-bytes", in: 1_024...1 << 30) else { return }
        settings.poolBudget = PoolBudget(bytes: bytes)
    }
}
