import EventStorage
import FoundationEssentials
import Logging
package import NIOCore
package import RoomDomain
import RoomWire

/// A room that is in memory: the only writer of its log in this process, pinned to one event loop.
///
/// It keeps two folds. `confirmed` holds what is durable and is all that anybody sees; `projected` has the appends that
/// are gathering or in flight folded in, and is what commands are decided against. When an append fails, everything
/// projected is thrown away and nobody has seen it.
package actor LiveRoom {
    /// How the room's memory relates to its log.
    enum Condition {
        /// As far as is known, `confirmed` is the whole log.
        case current
        /// An append failed, or the log has moved: it must be read before anything is decided.
        case stale
        /// It is being read.
        case reloading
        /// The log is no more: who comes later gets the room looked for anew.
        case forgotten
    }

    package nonisolated let id: RoomID
    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    let dependencies: Dependencies
    /// What the loop does in turns.
    let turns: LoopTurns
    var epoch: String
    var confirmed: RoomState
    var projected: RoomState
    /// The version of `confirmed`.
    var version: StreamVersion
    var keys: IdempotencyWindow
    var condition = Condition.current

    /// Decided in this turn of the loop.
    var gathering = PendingAppend()
    /// Handed to group commit and not known to be durable, in order.
    var handedOver: CircularBuffer<PendingAppend> = []
    /// What it was handed over to; nil where it is nothing.
    var appendQueue: AppendQueue?
    /// Since when appends follow each other without a gap.
    var busySince = NIODeadline.uptimeNanoseconds(0)
    /// The version of `projected`, without what gathers.
    var nextVersion: StreamVersion
    /// The keyed commands that gather or are handed over.
    var pendingKeys: [IdempotencyWindow.Name: CommandKey] = [:]
    /// About how many bytes it takes.
    var handedOverWeight = 0
    var flushIsScheduled = false
    /// Commands that wait for the log to be read.
    var waiting: [CommandRequest] = []
    /// Commands that wait for the room's turn on its loop: long ones, and what came behind them.
    var lining: CircularBuffer<CommandRequest> = []
    /// What waits for the next read or append to show that `confirmed` is the log's head: one that had begun before
    /// would not know what was written since.
    var verifications: [@Sendable () -> Void] = []
    /// What the read that is under way will show.
    var verifying: [@Sendable () -> Void] = []
    var conflictsInARow = 0
    /// The last event that other servers are known to have appended; read where it is beyond `confirmed`.
    var heard = 0

    var audience = RoomAudience()
    var presence = RoomPresence()
    var grace = PresenceGrace()
    /// When members who are not online last were, as far as this server has noticed.
    var lastSeen: [MemberID: Timestamp] = [:]
    /// Whether a moment is set at which members had their time to come back.
    var graceIsScheduled = false
    /// Whether a moment is set at which votes to skip are counted again.
    var skipCountIsScheduled = false
    /// Whether a moment is set at which what has changed is told.
    var presenceIsScheduled = false
    var reactionLimit = ReactionLimit()
    var ownerWatch = OwnerWatch()
    /// The newest durable events, so that resuming after a short absence needs no read.
    var recent: RecentEvents
    /// `State` as JSON where it was encoded at the position of `confirmed`.
    var encodedState: SharedState?
    var encoding = StateEncoding()
    var snapshotSeq: Int
    var isSavingSnapshot = false
    /// When somebody last wanted something of the room.
    var lastUse: NIODeadline

    init(_ loaded: DecodedRoom, turns: LoopTurns, dependencies: Dependencies) {
        self.id = loaded.state.id
        self.turns = turns
        self.loop = turns.loop
        self.executor = loop.executor
        self.dependencies = dependencies
        self.epoch = loaded.head.epoch
        self.confirmed = loaded.state
        self.projected = loaded.state
        self.version = loaded.head.version
        self.nextVersion = loaded.head.version
        self.keys = loaded.keys
        self.recent = loaded.recent
        self.snapshotSeq = loaded.snapshotSeq
        self.lastUse = loop.now
    }

    /// Whether it may leave memory: nobody follows it, nothing is under way, and it was not used for `idle`.
    func mayBeEvicted(idle: TimeAmount) -> Bool {
        !isFollowed && !isWriting && waiting.isEmpty && verifications.isEmpty && encoding.waiters.isEmpty
            && lining.isEmpty && condition != .reloading && lastUse + idle < loop.now
    }

    /// Whether there is anything that is decided and not known to be durable.
    var isWriting: Bool { !gathering.isEmpty || !handedOver.isEmpty }

    /// Whether somebody follows it, or may be back in a moment.
    var isFollowed: Bool { !audience.isEmpty || !grace.isEmpty }
}
