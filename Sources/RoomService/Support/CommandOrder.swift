package import RoomDomain
import Synchronization

/// The commands of one connection that were put off, so that none that was sent behind one of them overtakes it.
///
/// A command is put off where it was not carried out, or not for certain, and is to be sent again: the log is out of
/// reach, or there are too many commands.
package final class CommandOrder: Sendable {
    /// The most commands that are remembered: the newest.
    package static let limit = 256

    private struct PutOff {
        /// The number that the connection gave it; each room has numbers of its own.
        var number: Int64
        /// The room; nil if it is not known, and the command may be of any.
        var room: RoomID?
        var failure: RoomFailure

        func isCommand(_ number: Int64, of room: RoomID?) -> Bool {
            self.number == number && (self.room == room || self.room == nil || room == nil)
        }
    }

    private let putOff = Mutex<[PutOff]>([])

    package init() {}

    /// Notes that a command of a room was not carried out; does nothing if it was refused for good.
    ///
    /// `room` is nil if it is not known of which room the command is.
    package func note(_ number: Int64?, of room: RoomID?, _ failure: RoomFailure) {
        // Nothing can be sent behind one without a number.
        guard let number, failure.isPutOff else { return }
        putOff.withLock { putOff in
            putOff.removeAll { $0.isCommand(number, of: room) }
            if putOff.count == Self.limit { putOff.removeFirst() }
            putOff.append(PutOff(number: number, room: room, failure: failure))
        }
    }

    /// Forgets that a command was put off: it is decided again.
    fileprivate func forget(_ number: Int64, of room: RoomID) {
        putOff.withLock { $0.removeAll { $0.isCommand(number, of: room) } }
    }

    /// The failure of a command that was put off; nil if it was not.
    fileprivate func failure(of number: Int64, in room: RoomID) -> RoomFailure? {
        putOff.withLock { putOff in putOff.last { $0.isCommand(number, of: room) }?.failure }
    }
}

/// The place of a command among those of its connection for one room.
package struct CommandPlace: Sendable {
    private let order: CommandOrder
    private let room: RoomID
    private let number: Int64?
    private let earlier: Int64?

    /// The place of the command `number` of a room, behind which others can be sent if it has one; it is put off where
    /// `earlier` was.
    package init(_ number: Int64?, after earlier: Int64?, of room: RoomID, in order: CommandOrder) {
        self.order = order
        self.room = room
        self.number = number
        self.earlier = earlier
    }

    /// The reason for which the command waits for an earlier one; nil if it may be carried out.
    ///
    /// Behind one of which nobody knows whether it was carried out, it is not carried out, as is known.
    var failure: RoomFailure? {
        let failure = earlier.flatMap { order.failure(of: $0, in: room) }
        return failure == .outcomeUnknown ? .unavailable : failure
    }

    /// The command is decided, perhaps not for the first time: what became of it before counts no more.
    func begin() { if let number { order.forget(number, of: room) } }

    /// Notes the outcome of the command.
    func note(_ outcome: CommandOutcome) {
        if case .failed(let failure) = outcome { order.note(number, of: room, failure) }
    }
}

extension RoomFailure {
    /// Whether what has failed is to be tried again as it is.
    fileprivate var isPutOff: Bool {
        switch self {
        case .unavailable, .outcomeUnknown, .busy, .refused(.rateLimited): true
        case .noSuchRoom, .refused, .internalFault: false
        }
    }
}
