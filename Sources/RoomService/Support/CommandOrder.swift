import RoomDomain
import Synchronization

/// The commands of one connection that were put off, so that none that was sent behind one of them overtakes it.
///
/// A command is put off where it was not carried out, or not for certain, and is to be sent again: the log is out of
/// reach, or there are too many commands.
package final class CommandOrder: Sendable {
    /// The most commands that are remembered: the newest.
    package static let limit = 256

    private let putOff = Mutex<[(number: Int64, failure: RoomFailure)]>([])

    package init() {}

    /// Notes that a command was not carried out; does nothing if it was refused for good.
    package func note(_ number: Int64?, _ failure: RoomFailure) {
        // Nothing can be sent behind one without a number.
        guard let number, failure.isPutOff else { return }
        putOff.withLock { putOff in
            putOff.removeAll { $0.number == number }
            if putOff.count == Self.limit { putOff.removeFirst() }
            putOff.append((number, failure))
        }
    }

    /// Forgets that a command was put off: it is decided again.
    fileprivate func forget(_ number: Int64) { putOff.withLock { $0.removeAll { $0.number == number } } }

    /// The failure of a command that was put off; nil if it was not.
    fileprivate func failure(of number: Int64) -> RoomFailure? {
        putOff.withLock { putOff in putOff.last { $0.number == number }?.failure }
    }
}

/// The place of a command among those of its connection.
package struct CommandPlace: Sendable {
    private let order: CommandOrder
    private let number: Int64?
    private let earlier: Int64?

    /// The place of the command `number`, behind which others can be sent if it has one; it is put off where `earlier`
    /// was.
    package init(_ number: Int64?, after earlier: Int64?, in order: CommandOrder) {
        self.order = order
        self.number = number
        self.earlier = earlier
    }

    /// The reason for which the command waits for an earlier one; nil if it may be carried out.
    var failure: RoomFailure? { earlier.flatMap { order.failure(of: $0) } }

    /// The command is decided, perhaps not for the first time: what became of it before counts no more.
    func begin() { if let number { order.forget(number) } }

    /// Notes the outcome of the command.
    func note(_ outcome: CommandOutcome) {
        if case .failed(let failure) = outcome { order.note(number, failure) }
    }
}

extension RoomFailure {
    /// Whether what has failed is to be tried again as it is.
    fileprivate var isPutOff: Bool {
        switch self {
        case .unavailable, .busy, .refused(.rateLimited): true
        case .noSuchRoom, .refused, .internalFault: false
        }
    }
}
