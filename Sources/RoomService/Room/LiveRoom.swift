import EventStorage
import FoundationEssentials
import Logging
package import NIOCore
package import RoomDomain
import RoomWire

/// A room in memory: the only writer of its log in this process, bound to one event loop.
///
/// What it decides and when that is shown is up to a machine, ``RoomWriter``; this is its way to the store, to the other
/// servers and to everybody who follows.
package actor LiveRoom {
    package nonisolated let id: RoomID
    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    let dependencies: Dependencies
    /// The loop's work that is done in turns.
    let turns: LoopTurns
    var writer: RoomWriter
    /// The machine's steps that are not taken yet.
    var steps: CircularBuffer<RoomWriter.Step> = []
    var isStepping = false
    /// Commands that the machine has and that are not answered.
    var requests: [RoomWriter.RequestID: CommandRequest] = [:]
    /// Callbacks that wait for the log's head.
    var verifications: [RoomWriter.VerificationID: @Sendable () -> Void] = [:]
    private var lastNumber = 0
    /// The queue of the appends that were handed over; nil if there are none.
    var appendQueue: AppendQueue?
    /// The time since which appends follow each other without a gap.
    var busySince = NIODeadline.uptimeNanoseconds(0)
    /// Commands that wait for the room's turn on its loop: long ones, and all that arrived after them.
    var queuedCommands: CircularBuffer<CommandRequest> = []

    var audience = RoomAudience()
    var presence = RoomPresence()
    var grace = PresenceGrace()
    /// The times when offline members were last online, as far as this server has seen.
    var lastSeen: [MemberID: Timestamp] = [:]
    /// Whether the end of a grace period is scheduled.
    var graceIsScheduled = false
    /// Whether a count of votes to skip is scheduled.
    var skipCountIsScheduled = false
    /// Whether a message about presence is scheduled.
    var presenceIsScheduled = false
    var reactionLimit = ReactionLimit()
    var deck = RoomDeck()
    var ownerWatch = OwnerWatch()
    /// The next look at the owner.
    var ownerAlarm: (at: NIODeadline, task: Scheduled<Void>)?
    /// The newest durable events, so that resuming after a short absence needs no read.
    var recent: RecentEvents
    /// `State` as JSON, if it was encoded at the position of `confirmed`.
    var encodedState: SharedState?
    var encoding = StateEncoding()
    var snapshotSeq: Int
    var isSavingSnapshot = false
    /// The time of the last request to the room.
    var lastUse: NIODeadline

    init(_ loaded: DecodedRoom, turns: LoopTurns, dependencies: Dependencies) {
        self.id = loaded.state.id
        self.turns = turns
        self.loop = turns.loop
        self.executor = loop.executor
        self.dependencies = dependencies
        self.writer = RoomWriter(
            loaded,
            limits: RoomWriter.Limits(
                waiting: dependencies.settings.waitingCommandsPerRoom, weight: dependencies.settings.gatheringBytes,
                conflicts: dependencies.settings.conflictsInARow))
        self.recent = loaded.recent
        self.snapshotSeq = loaded.snapshotSeq
        self.lastUse = loop.now
    }

    /// A number that no other request to the machine has.
    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// The durable state, which is all that anybody sees.
    var confirmed: RoomState {
        _read { yield writer.confirmed }
    }

    var epoch: String { writer.epoch }

    /// Whether the room's log no longer exists.
    var isForgotten: Bool { writer.condition == .forgotten }

    /// Whether it may leave memory: it has no followers, nothing is under way, and it was not used for `idle`.
    func mayBeEvicted(idle: TimeAmount) -> Bool {
        !isFollowed && writer.isIdle && encoding.waiters.isEmpty && queuedCommands.isEmpty && lastUse + idle < loop.now
    }

    /// Whether it has followers, or members in their grace period.
    var isFollowed: Bool { !audience.isEmpty || !grace.isEmpty }
}
