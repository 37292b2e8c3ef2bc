import EventStorage
import FoundationEssentials
import Synchronization

/// One room's appends, in the order in which they were decided, each against the result of the one before.
///
/// One append is under way at a time; parts that are added meanwhile form the next one. When an append conflicts or
/// fails, the queue is closed: later parts are never written, because the state that they were decided against does not
/// exist.
final class AppendQueue: Sendable {
    /// The fate of parts that were handed over.
    enum Report: Sendable {
        /// This many further parts are durable.
        case durable(Int)
        /// The remaining parts are not known to be durable: another writer appended first.
        case overtaken
        /// The remaining parts are not known to be durable: the store failed while the first `underWay` of them were
        /// being written.
        case failed(StorageFault, underWay: Int)
    }

    private struct Part {
        let append: StreamAppend
        let commands: Int
        /// The cost of writing it, in the units of ``LogShares``.
        let cost: Int

        init(_ append: StreamAppend, commands: Int) {
            self.append = append
            self.commands = commands
            cost = LogShares.cost(of: append)
        }
    }

    private struct State {
        /// The parts that wait.
        var parts: [Part] = []
        /// The number of parts that are being written.
        var underWay = 0
        /// Whether group commit knows of waiting parts, or is writing.
        var isListed = false
        /// Whether the next append is to be delayed a little.
        var isToRest = false
        /// Whether no append is begun any more, because another writer is known to have appended first.
        var isOvertaken = false
        /// The reason for which no more parts are taken; nil while they are.
        var end: Report?
    }

    private let state = Mutex(State())
    private let report: @Sendable (AppendQueue, Report) -> Void

    /// Makes an empty queue.
    ///
    /// `report` is called on any thread, in order, and not again after it has reported an end.
    init(report: @escaping @Sendable (AppendQueue, Report) -> Void) {
        self.report = report
    }

    // MARK: For the room

    /// Begins no more appends, because another writer is known to have appended first, and they would fail.
    func overtake() {
        state.withLock { $0.isOvertaken = true }
    }

    /// Delays the next append a little, so that another server can append in between.
    func rest() {
        state.withLock { $0.isToRest = true }
    }

    // MARK: For group commit

    /// The least cost of the next append, in the units of ``LogShares``.
    var cost: Int { state.withLock { $0.parts.first?.cost ?? 0 } }

    /// Adds a part; returns whether the queue has to be listed.
    func add(_ append: StreamAppend, commands: Int) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return false }
            state.parts.append(Part(append, commands: commands))
            defer { state.isListed = true }
            return !state.isListed
        }
    }

    /// Takes no more parts, and ends when its parts are written.
    func close() {
        let isOver = state.withLock { state in
            guard state.end == nil else { return false }
            state.end = .failed(.closed, underWay: 0)
            return !state.isListed
        }
        if isOver { report(self, .failed(.closed, underWay: 0)) }
    }

    /// Begins the next append; nil if there is nothing to write.
    ///
    /// It joins the waiting parts, or the first half of them if they are many: the other half is written while the room
    /// shows and answers the first.
    func begin() -> StreamAppend? {
        let (parts, isOvertaken) = state.withLock { state -> (ArraySlice<Part>, Bool) in
            guard !state.isOvertaken, let first = state.parts.first else {
                state.isListed = false
                return ([], state.isOvertaken)
            }
            let most = max(Self.commandsTogether, state.parts.reduce(0) { $0 + $1.commands } / 2)
            var (commands, cost) = (first.commands, first.cost)
            let others = state.parts.dropFirst().prefix { part in
                commands += part.commands
                cost += part.cost
                return commands <= most && cost <= Self.costTogether
            }
            state.underWay = 1 + others.count
            defer { state.parts.removeFirst(state.underWay) }
            return (state.parts.prefix(state.underWay), false)
        }
        if isOvertaken { tear(.overtaken) }
        return StreamAppend(parts.map(\.append))
    }

    /// The step after an append.
    enum Next {
        /// Another append, at once.
        case append
        /// Another append, after a short delay.
        case rest
        /// No append, for now or for good.
        case nothing
    }

    /// Ends the append that ``begin()`` began.
    func end(_ outcome: Result<AppendOutcome, StorageFault>) -> Next {
        let written = state.withLock { state in
            defer { state.underWay = 0 }
            return state.underWay
        }
        switch outcome {
        case .success(.appended):
            // This must come before any other report.
            report(self, .durable(written))
            let (next, end) = state.withLock { state -> (Next, Report?) in
                let next = state.parts.isEmpty ? Next.nothing : state.isToRest ? .rest : .append
                state.isListed = !state.parts.isEmpty
                state.isToRest = false
                return (next, state.isListed ? nil : state.end)
            }
            if let end { report(self, end) }
            return next
        case .success(.conflict): tear(.overtaken)
        case .failure(let fault): tear(.failed(fault, underWay: written))
        }
        return .nothing
    }

    private func tear(_ end: Report) {
        state.withLock { state in
            state.end = end
            state.parts = []
        }
        report(self, end)
    }

    /// Up to this many commands are always written together.
    static let commandsTogether = 64
    /// The cost beyond which further parts are not joined: writing and showing a long append delays others.
    private static let costTogether = 1_024
}

extension StreamAppend {
    /// Joins consecutive appends into one; nil if there are none.
    fileprivate init?(_ parts: [StreamAppend]) {
        guard let first = parts.first else { return nil }
        self = first
        guard parts.count > 1 else { return }
        var areMembers: [UUID: Bool] = [:]
        for session in joined { areMembers[session] = true }
        for session in left { areMembers[session] = false }
        for part in parts.dropFirst() {
            events += part.events
            keys += part.keys
            directory = part.directory ?? directory
            forgetAt = part.forgetAt ?? forgetAt
            clearing = part.clearing ?? clearing
            attachments.join(part.attachments)
            for session in part.joined { areMembers[session] = true }
            for session in part.left { areMembers[session] = false }
        }
        joined = areMembers.filter(\.value).map(\.key)
        left = areMembers.filter { !$0.value }.map(\.key)
    }
}
