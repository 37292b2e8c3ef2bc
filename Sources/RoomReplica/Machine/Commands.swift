import RoomDomain
import RoomWire

/// The commands for one room that wait for their answers, in the order of the calls.
///
/// Each is sent under one key until it is answered. After a lost connection, all that were sent are sent again in their
/// order, before newer ones. A command whose outcome is unknown is sent again only while the room must still know its
/// key, or if carrying it out twice does no harm.
package struct Commands: Sendable, Equatable {
    /// The most commands of a room without an answer on one connection.
    static let mostInFlight = 16
    /// The most keyed commands that a room may have carried out since a command was first sent, if it is sent again.
    ///
    /// Rooms know the newest 1,000 keys; the other half is a margin for commands that are being written.
    static let keyedWindow = 500

    package enum Step: Equatable, Sendable {
        /// Keep the command, as it is now, before anything that follows.
        case keep(OutboxCommand)
        /// The command need not be kept any more.
        case forget(CommandNumber)
        /// Send the command under this `id`; the server puts it off where it puts off the one before, `after`.
        case send(id: Int64, OutboxCommand, after: Int64?)
        /// The app is told what became of the command.
        case answered(OutboxCommand, CommandAnswer)
    }

    struct Entry: Sendable, Equatable {
        var command: OutboxCommand
        /// From then on it is not sent any more.
        var deadline: ClientInstant
        /// The `id` under which it is in flight on this connection.
        var flight: Int64?
        /// A refusal that is not told yet: an earlier command is not answered.
        var refusal: CommandAnswer?
        /// An earlier command was put off while this one was in flight: a refusal says nothing, because the earlier one
        /// may be what it lacks.
        var isRefusalVoid = false

        /// Whether it can be sent now, or is to be sent again.
        var isUnsent: Bool { flight == nil && refusal == nil }
    }

    enum Line: Sendable, Equatable {
        /// The room has not answered on this connection yet.
        case closed
        case open
        /// The room has put commands off.
        case paused(until: ClientInstant)
        /// It is not known whether commands were carried out: the room is asked for its count of keyed commands.
        case doubtful(askAt: ClientInstant)
    }

    var entries: [Entry] = []
    var line = Line.closed
    /// The newest entries that rooms have given to an `enqueue` of this client, by the number that was shown before.
    var given: [(shown: EntryID, entry: EntryID)] = []

    package init() {}

    package static func == (left: Self, right: Self) -> Bool {
        left.entries == right.entries && left.line == right.line && left.given.elementsEqual(right.given, by: ==)
    }

    /// The commands without an answer, in the order of the calls.
    package var unanswered: [OutboxCommand] { entries.map(\.command) }

    /// The newest command without an answer; nil if there is none.
    package var newest: OutboxCommand? { entries.last?.command }

    package var isEmpty: Bool { entries.isEmpty }

    /// The next moment at which something has to be done without a message; nil if there is none.
    package var due: ClientInstant? {
        let deadline = entries.lazy.filter(\.isUnsent).map(\.deadline).min()
        return switch line {
        case .closed, .open: deadline
        case .paused(let until), .doubtful(let until): min(deadline ?? until, until)
        }
    }

    /// Adds a command as the newest one.
    ///
    /// A vote and its opposite that have not been sent cancel out. `wasVoted` tells whether the own vote was shown
    /// before a command: if the newer one restores that, neither is sent, else the older one is not.
    package mutating func add(
        _ command: OutboxCommand, at now: ClientMoment, wasVoted: (CommandNumber) -> Bool = { _ in false }
    ) -> [Step] {
        var command = command
        command.command = resolved(command.command)
        if let named = command.command.namedEntry, named.rawValue < 0, !isUnderWay(named) {
            return answer(command, Self.noEntry)
        }
        let left = max(0, command.expiresAt.milliseconds &- now.wall.milliseconds)
        let entry = Entry(command: command, deadline: now.instant.advanced(byMs: left))
        guard let older = oppositeVote(of: command.command) else {
            entries.append(entry)
            return command.isKept ? [.keep(command)] : []
        }
        let taken = entries.remove(at: older).command
        let steps = answer(taken, .superseded)
        let wants = if case .vote = command.command { true } else { false }
        guard wasVoted(taken.number) != wants else { return steps + answer(command, .superseded) }
        entries.append(entry)
        return steps + (command.isKept ? [.keep(command)] : [])
    }

    /// Sends what may be sent; each command's `id` is the next one of `ids`.
    package mutating func send(
        at now: ClientInstant, knowing known: OutboxCommand.Sending, ids: inout Int64
    ) -> [Step] {
        if case .paused(let until) = line, until <= now { line = .open }
        guard line == .open else { return [] }
        var steps: [Step] = []
        var inFlight = entries.count { $0.flight != nil }
        var earlier: Int64?
        for index in entries.indices {
            guard entries[index].isUnsent else {
                earlier = entries[index].flight ?? earlier
                continue
            }
            let named = entries[index].command.command.namedEntry
            guard inFlight < Self.mostInFlight, named.map({ $0.rawValue > 0 }) ?? true else { break }
            inFlight += 1
            ids += 1
            entries[index].flight = ids
            if entries[index].command.sending == nil {
                entries[index].command.sending = known
                if entries[index].command.isKept { steps.append(.keep(entries[index].command)) }
            }
            steps.append(.send(id: ids, entries[index].command, after: earlier))
            earlier = ids
        }
        return steps
    }

    /// The connection is lost: nobody knows what became of the commands in flight.
    package mutating func connectionLost() {
        line = .closed
        for index in entries.indices {
            entries[index].flight = nil
            entries[index].refusal = nil
            entries[index].isRefusalVoid = false
        }
    }

    /// Gives up the commands whose time is over and that are not in flight.
    package mutating func expire(at now: ClientInstant) -> [Step] {
        var steps: [Step] = []
        while let index = entries.firstIndex(where: { $0.isUnsent && $0.deadline <= now }) {
            steps += giveUp(index, entries[index].command.sending == nil ? .expired : .outcomeUnknown)
        }
        return steps
    }

    /// Gives up all commands: the room can be used no more.
    package mutating func end(_ answer: CommandAnswer) -> [Step] {
        var steps: [Step] = []
        while !entries.isEmpty { steps += giveUp(0, answer) }
        return steps
    }
}
