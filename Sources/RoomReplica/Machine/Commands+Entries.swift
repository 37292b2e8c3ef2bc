import RoomDomain
import RoomWire

/// What is common to sending and answering: giving up, and the entries that commands name.
extension Commands {
    /// The answer to a command that names an entry which never came to be.
    static let noEntry = CommandAnswer.refused(
        Refusal(ErrorName(.notFound), "the entry was not added to the queue"))

    /// The steps that tell what became of a command.
    func answer(_ command: OutboxCommand, _ answer: CommandAnswer) -> [Step] {
        (command.isKept ? [.forget(command.number)] : []) + [.answered(command, answer)]
    }

    /// Removes a command with an answer other than an acknowledgement, and those that need its entry.
    mutating func giveUp(_ index: Int, _ reason: CommandAnswer) -> [Step] {
        let command = entries.remove(at: index).command
        var steps = answer(command, reason)
        while let other = entries.firstIndex(where: { $0.command.command.namedEntry == command.number.entry }) {
            steps += giveUp(other, Self.noEntry)
        }
        return steps
    }

    /// The room has given an `enqueue` its entry: the commands that name it are for that entry.
    mutating func give(_ entry: EntryID, to command: CommandNumber) -> [Step] {
        // An app may use the number that was shown for a while after the real one is known.
        given = given.suffix(63) + [(command.entry, entry)]
        var steps: [Step] = []
        for index in entries.indices where entries[index].command.command.namedEntry == command.entry {
            entries[index].command.command = entries[index].command.command.naming(entry)
            if entries[index].command.isKept { steps.append(.keep(entries[index].command)) }
        }
        return steps
    }

    func resolved(_ command: RoomCommand) -> RoomCommand {
        guard let named = command.namedEntry, let known = given.last(where: { $0.shown == named }) else {
            return command
        }
        return command.naming(known.entry)
    }

    func isUnderWay(_ entry: EntryID) -> Bool { entries.contains { $0.command.number.entry == entry } }

    /// The newest unsent command with the opposite vote, if only votes came after it.
    func oppositeVote(of command: RoomCommand) -> Int? {
        guard let track = command.votedTrack else { return nil }
        for index in entries.indices.reversed() {
            guard let voted = entries[index].command.command.votedTrack else { return nil }
            guard voted == track else { continue }
            let entry = entries[index]
            return entry.isUnsent && entry.command.sending == nil && entry.command.command.kind != command.kind
                ? index : nil
        }
        return nil
    }
}
