import EventStorage
import Logging

/// What all rooms of a process share: the log, the clock, other servers, limits and metrics.
struct Dependencies: Sendable {
    var store: any EventStore
    var groupCommit: GroupCommit
    var batchedReads: BatchedReads
    var jobs: BackgroundJobs
    var heavyWork: HeavyWork
    var clock: ServerClock
    var presence: PresenceRegistry
    var shares: LogShares
    var signalShares: SignalShares
    var signalBacklog: SignalBacklog
    var bus: ClusterBus?
    var settings: RoomHostSettings
    var metrics: RoomMetrics
    var logger: Logger
}
