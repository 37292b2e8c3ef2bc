import EventStorage
import FoundationEssentials
import Logging
package import NIOCore
package import RoomDomain
import RoomWire

/// A room in memory: the only writer of its log in this process, bound to one event loop.
///
/// It keeps two folds. `confirmed` contains the durable events, and is all that anybody sees. `projected` also contains
/// the appends that are gathered or in flight, and commands are decided against it. When an append fails, everything
/// projected is dropped, and nobody has seen it.
package actor LiveRoom {
    /// The relation of the room's memory to its log.
    enum Condition {
        /// By all that this process knows, `confirmed` is the whole log.
        case current
        /// An append failed, or the log has moved: it must be read before anything is decided.
        case stale
        /// The log is being read.
        case reloading
        /// The log no longer exists: later requests look the room up again.
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
    /// The loop's work that is done in turns.
    let turns: LoopTurns
    var epoch: String
    var confirmed: RoomState
    var projected: RoomState
    /// The version of `confirmed`.
    var version: StreamVersion
    var keys: IdempotencyWindow
    var condition = Condition.current

    /// The append that is gathered in this turn of the loop.
    var gathering = PendingAppend()
    /// The appends that were handed to group commit and are not known to be durable, in order.
    var handedOver: CircularBuffer<PendingAppend> = []
    /// The queue to which they were handed; nil if there are none.
    var appendQueue: AppendQueue?
    /// The time since which appends follow each other without a gap.
    var busySince = NIODeadline.uptimeNanoseconds(0)
    /// The version of `projected`, without the gathered append.
    var nextVersion: StreamVersion
    /// The keyed commands that are gathered or handed over.
    var pendingKeys: [IdempotencyWindow.Name: CommandKey] = [:]
    /// About how many bytes the handed-over appends take.
    var handedOverWeight = 0
    var flushIsScheduled = false
    /// Commands that wait for the log to be read.
    var waiting: [CommandRequest] = []
    /// Commands that wait for the room's turn on its loop: long ones, and all that arrived after them.
    var queuedCommands: CircularBuffer<CommandRequest> = []
    /// Callbacks that wait for the next read or append to show that `confirmed` is the log's head.
    ///
    /// One that had begun earlier would not show what was written since.
    var verifications: [@Sendable () -> Void] = []
    /// The callbacks that the read under way will answer.
    var verifying: [@Sendable () -> Void] = []
    var conflictsInARow = 0
    /// The last event that other servers have announced; it is read if it is after `confirmed`.
    var heard = 0

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

    /// Whether it may leave memory: it has no followers, nothing is under way, and it was not used for `idle`.
    func mayBeEvicted(idle: TimeAmount) -> Bool {
        !isFollowed && !isWriting && waiting.isEmpty && verifications.isEmpty && encoding.waiters.isEmpty
            && queuedCommands.isEmpty && condition != .reloading && lastUse + idle < loop.now
    }

    /// Whether anything is decided and not known to be durable.
    var isWriting: Bool { !gathering.isEmpty || !handedOver.isEmpty }

    /// Whether it has followers, or members in their grace period.
    var isFollowed: Bool { !audience.isEmpty || !grace.isEmpty }
}
