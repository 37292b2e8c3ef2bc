import EventStorage
import RoomDomain
import RoomLog

/// What a ``RoomWriter`` is told, and what it asks for.
extension RoomWriter {
    /// Names a command while it is undecided or unanswered; its owner gives each number once.
    typealias RequestID = Int
    /// Names a request to know that `confirmed` is the log's head.
    typealias VerificationID = Int

    /// The relation of the room's memory to its log.
    enum Condition: Equatable {
        /// By all that this process knows, `confirmed` is the whole log.
        case current
        /// An append failed, or the log has moved: it must be read before anything is decided.
        case stale
        /// The log is being read.
        case reading
        /// The log no longer exists: later requests look the room up again.
        case forgotten
    }

    /// What its owner has to do.
    enum Step: Equatable {
        /// Decides a command against `projected`, and tells ``RoomWriter/decided(_:_:)`` the decision.
        case decide(RequestID)
        /// Calls ``RoomWriter/flush()`` at the end of this turn of the loop.
        case flushSoon
        /// Hands an append over, behind those that were handed over before.
        indirect case append(StreamAppend, commands: Int)
        /// Begins no further append: another writer has appended first.
        case overtake
        /// Reads the events after `version`, and calls ``RoomWriter/read(_:)``.
        case read
        /// Gives the room a new epoch, because its log has lost events that were shown, and goes on as with ``load``.
        case renew
        /// Reads the whole room, whose log was replaced, and calls ``RoomWriter/read(_:)``.
        case load
        /// The log has events that were not read. Calls ``RoomWriter/catchUp()`` if anybody follows the room.
        case fellBehind
        /// Asks for what is counted, with ``RoomWriter/takeTally()``, soon.
        case count
        /// Shows durable events, which `confirmed` has now, without what the redaction removes from all that was shown.
        case show([RecordedEvent], Redaction)
        /// Tells other servers that the log may have reached this event.
        case announce(seq: Int)
        /// Answers a command.
        case reply(RequestID, CommandOutcome)
        /// Answers requests for the log's head.
        case verified([VerificationID])
        /// Calls ``RoomWriter/settle()``: requests that have come meanwhile may need a read or an append.
        case settle
        /// The log was replaced: `confirmed` is another room's state.
        case begin
        /// The log no longer exists.
        case forget
    }

    /// The outcome of deciding one command.
    enum Decision: Equatable {
        /// The outcome does not depend on the log.
        case answered(CommandOutcome)
        /// The outcome rests on `projected`: the log has to confirm it.
        case settled(CommandOutcome)
        /// The command is carried out.
        case changed(Projection.Change)
    }

    /// What a read has brought.
    enum Reading {
        /// The events and keyed commands after `version`, and the log's version.
        case events([RecordedEvent], keys: [CommandKey], version: StreamVersion)
        /// The log has lost events that were shown.
        case wentBack
        /// The log was replaced: the room has to be loaded.
        case replaced
        /// The room of the log that has replaced the former one.
        case room(DecodedRoom)
        /// There is no such log.
        case gone
        /// The log is out of reach, or cannot be read.
        case failed(RoomFailure)
    }

    /// How much may wait.
    struct Limits {
        /// Commands that wait for the log to be read.
        var waiting: Int
        /// Bytes that are gathered or handed over.
        var weight: Int
        /// Conflicts in a row before commands are given up.
        var conflicts: Int
        /// Whether the room's own events are counted.
        var isCounting = false

        init(waiting: Int, weight: Int, conflicts: Int) {
            self.waiting = waiting
            self.weight = weight
            self.conflicts = conflicts
        }

        /// The limits that the settings name.
        init(_ settings: RoomHostSettings, isCounting: Bool) {
            self.isCounting = isCounting
            waiting = settings.waitingCommandsPerRoom
            weight = settings.gatheringBytes
            conflicts = settings.conflictsInARow
        }
    }
}
