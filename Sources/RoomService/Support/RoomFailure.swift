package import EventStorage
package import RoomDomain

/// Why a room was not had, or did not do what was asked: the one vocabulary of all outcomes.
package enum RoomFailure: Error, Sendable, Equatable {
    /// There is no such room, or it has no such position.
    case noSuchRoom
    /// The room says no; nothing changed.
    case refused(RoomRefusal)
    /// The event log is out of reach, or more waits for the room than may. A command is retried with the same key.
    case unavailable
    /// More is read at the moment than the process reads at once.
    case busy
    /// The event log refuses what we give it, or gives back what we cannot read.
    case internalFault

    /// Why work beside the event loops was not done.
    init(_ refusal: HeavyWorkRefusal) {
        self =
            switch refusal {
            case .sessionIsBusy:
                .refused(.rateLimited("the session has as many large reads waiting as it may", retryAfterMs: 1_000))
            case .queueIsFull: .busy
            case .cancelled, .stopped: .unavailable
            }
    }

    /// What a fault of the store means to who looks at a room.
    package init(_ fault: StorageFault) {
        self =
            switch fault {
            case .unreachable, .outcomeUnknown, .transient, .exhausted, .closed: .unavailable
            case .rejected, .corrupt: .internalFault
            }
    }
}
