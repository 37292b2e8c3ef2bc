package import EventStorage
package import RoomDomain

/// Why a room cannot be looked at.
package enum RoomFailure: Error, Sendable, Equatable {
    /// There is no such room, or it has no such position.
    case noSuchRoom
    /// The room does not let the session look.
    case refused(RoomRefusal)
    /// The event log is out of reach.
    case unavailable
    /// More is read at the moment than the process reads at once.
    case busy
    /// The event log refuses what we give it, or gives back what we cannot read.
    case internalFault

    /// Why work beside the event loops was not done.
    init(_ refusal: HeavyWork.Refusal) {
        self =
            switch refusal {
            case .sessionIsBusy:
                .refused(.rateLimited("the session has as many large reads waiting as it may", retryAfterMs: 1_000))
            case .queueIsFull: .busy
            case .cancelled, .stopped: .unavailable
            }
    }

    init(_ failure: RoomShelf.LookupFailure) {
        self =
            switch failure {
            case .noSuchRoom: .noSuchRoom
            case .unavailable: .unavailable
            case .corrupt: .internalFault
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
