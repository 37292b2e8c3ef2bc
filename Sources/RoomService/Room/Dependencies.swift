import EventStorage
import Logging

/// The parts of a process that all rooms share: the log, the clock, the bus to other servers, limits and metrics.
struct Dependencies: Sendable {
    var store: any EventStore
    var groupCommit: GroupCommit
    var batchedReads: BatchedReads
    var jobs: BackgroundJobs
    var heavyWork: HeavyWork
    var clock: ServerClock
    var randomness: ServerRandomness
    var presence: PresenceRegistry
    var shares: LogShares
    var readShares: ReadShares
    var signals: SignalRelay
    var bus: ClusterBus?
    /// The rooms that have counted something; nil if nothing is counted.
    var counting: CountingRooms?
    /// The rooms that have listeners; nil if nothing is counted.
    var observed: ObservedRooms?
    var settings: RoomHostSettings
    var metrics: RoomMetrics
    var logger: Logger
}
