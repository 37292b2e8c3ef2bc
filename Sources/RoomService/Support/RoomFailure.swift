package import EventStorage
package import RoomDomain

/// The reason for which a request to a room failed; all outcomes share this vocabulary.
package enum RoomFailure: Error, Sendable, Equatable {
    /// There is no such room, or it has no such position.
    case noSuchRoom
    /// The room refuses; nothing changed.
    case refused(RoomRefusal)
    /// The event log is out of reach, or the room has too many waiting requests; nothing changed. A command may be retried
    /// with the same key.
    case unavailable
    /// The event log has not answered a write, which was carried out as a whole or not at all. A command may be retried
    /// with the same key.
    case outcomeUnknown
    /// The process has reached its limit of reads in progress.
    case busy
    /// The event log rejects a write of this program, or returns data that this program cannot read.
    case internalFault

    /// Converts the refusal of work outside the event loops.
    init(_ refusal: HeavyWorkRefusal) {
        self =
            switch refusal {
            case .sessionIsBusy:
                .refused(.rateLimited("too many large reads of this session are waiting", retryAfterMs: 1_000))
            case .addressIsBusy:
                .refused(.rateLimited("too many large reads from this address are waiting", retryAfterMs: 1_000))
            case .queueIsFull: .busy
            case .cancelled, .stopped: .unavailable
            }
    }

    /// Converts a fault of the store.
    package init(_ fault: StorageFault) {
        self =
            switch fault {
            case .unreachable, .transient, .exhausted, .closed: .unavailable
            case .outcomeUnknown: .outcomeUnknown
            case .rejected(let cause) where cause.mayPass: .unavailable
            case .rejected, .corrupt: .internalFault
            }
    }
}
