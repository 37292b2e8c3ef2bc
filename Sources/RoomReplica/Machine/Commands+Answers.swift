package import RoomDomain
import RoomWire

/// What rooms answer.
extension Commands {
    /// The time after which a room that cannot reach its log is asked again, beside a random part.
    private static let askAgainMs: Int64 = 1_000

    /// The room has answered a subscription: `keyed` is its count of keyed commands, nil if the server does not know it
    /// while its log is out of reach.
    ///
    /// Decides which commands without an answer are sent again.
    package mutating func roomAnswered(epoch: String, keyed: Int?, at now: ClientMoment) -> [Step] {
        line = .open
        var steps: [Step] = []
        var index = 0
        while index < entries.count {
            let entry = entries[index]
            guard entry.isUnsent, let sending = entry.command.sending else {
                index += 1
                continue
            }
            switch Self.verdict(on: entry.command.command, sent: sending, epoch: epoch, keyed: keyed) {
            case .again: index += 1
            case .unknown: steps += giveUp(index, .outcomeUnknown)
            case .ask:
                line = .doubtful(askAt: now.afterWait(ofMs: nil, usualMs: Self.askAgainMs))
                index += 1
            }
        }
        return steps
    }

    private enum Verdict {
        /// The room still knows the key, or a second time does no harm.
        case again
        /// The room may have forgotten the key.
        case unknown
        /// The room cannot tell now.
        case ask
    }

    private static func verdict(
        on command: RoomCommand, sent: OutboxCommand.Sending, epoch: String, keyed: Int?
    ) -> Verdict {
        if command.isHarmlessToRepeat { return .again }
        guard sent.epoch == epoch, let before = sent.keyed else { return .unknown }
        guard let keyed else { return .ask }
        let (grown, overflow) = keyed.subtractingReportingOverflow(before)
        return !overflow && grown <= keyedWindow ? .again : .unknown
    }

    /// The time at which the room has to be asked for its count; nil if it need not be.
    package var asksAt: ClientInstant? { if case .doubtful(let at) = line { at } else { nil } }

    /// The room has been asked: nothing is sent before it answers.
    package mutating func asked() { line = .closed }

    /// A command was carried out; nil if `re` is no command's.
    package mutating func acknowledged(_ re: Int64, seq: Int, result: CommandResult?) -> [Step]? {
        guard let index = entries.firstIndex(where: { $0.flight == re }) else { return nil }
        let command = entries.remove(at: index).command
        var steps: [Step] = []
        if case .entry(let entry)? = result { steps += give(entry, to: command.number) }
        steps += answer(command, .acknowledged(seq: seq, result))
        return steps + settle()
    }

    /// A command was refused; nil if `re` is no command's.
    ///
    /// A command that is put off is sent again. The later ones that are in flight with it may be refused only because
    /// it was not carried out, so they are sent again behind it.
    package mutating func refused(_ re: Int64, _ refusal: Refusal, at now: ClientMoment) -> [Step]? {
        guard let index = entries.firstIndex(where: { $0.flight == re }) else { return nil }
        switch refusal.code.code {
        case .rateLimited:
            putOff(index)
            if case .doubtful = line { break }
            line = .paused(until: now.after(askedMs: refusal.retryAfterMs, usualMs: Self.askAgainMs))
        case .unavailable, .outcomeUnknown:
            // Servers before `outcome_unknown` say `unavailable` also where it may have been carried out.
            putOff(index)
            line = .doubtful(askAt: now.afterWait(ofMs: refusal.retryAfterMs, usualMs: Self.askAgainMs))
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .unauthorized, .forbidden, .banned,
            .notFound, .notMember, .conflict, .roomClosed, .tooLarge, .limitReached, .internal, nil:
            if entries[index].isRefusalVoid {
                entries[index].flight = nil
                entries[index].isRefusalVoid = false
            } else {
                entries[index].flight = nil
                entries[index].refusal = .refused(refusal)
            }
        }
        return settle()
    }

    private mutating func putOff(_ index: Int) {
        entries[index].flight = nil
        entries[index].isRefusalVoid = false
        for later in entries.indices[(index + 1)...] {
            entries[later].refusal = nil
            entries[later].isRefusalVoid = entries[later].flight != nil
        }
    }

    /// Tells the refusals before which every command is answered.
    private mutating func settle() -> [Step] {
        var steps: [Step] = []
        while let refusal = entries.first?.refusal { steps += giveUp(0, refusal) }
        return steps
    }
}
