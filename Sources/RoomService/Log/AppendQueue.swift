import EventStorage
import FoundationEssentials
import Synchronization

/// One room's appends, in the order in which they were decided, each against what the one before it makes.
///
/// One is under way at a time; what is handed over meanwhile becomes the next one. When an append conflicts or fails, the
/// queue is closed: what was handed over behind it is never written, since it was decided against what is not so.
final class AppendQueue: Sendable {
    /// What became of what was handed over.
    enum Report: Sendable {
        /// So many parts more are durable.
        case durable(Int)
        /// Of all others none is known to be: the log is not where it was expected.
        case overtaken
        /// Of all others none is known to be: the store failed, with the first so many of them under way.
        case failed(StorageFault, underWay: Int)
    }

    private struct Part {
        let append: StreamAppend
        let commands: Int
        /// What writing it takes, as ``LogShares`` counts.
        let cost: Int

        init(_ append: StreamAppend, commands: Int) {
            self.append = append
            self.commands = commands
            cost = LogShares.cost(of: append)
        }
    }

    private struct State {
        /// What waits.
        var parts: [Part] = []
        /// How many parts are being written.
        var underWay = 0
        /// Whether group commit knows that there is something to write, or is writing.
        var isListed = false
        /// Whether the next append is to wait a little.
        var isToRest = false
        /// Whether nothing is begun any more, because the log is known to be elsewhere.
        var isOvertaken = false
        /// Whether nothing more is taken, and why.
        var end: Report?
    }

    private let state = Mutex(State())
    private let report: @Sendable (AppendQueue, Report) -> Void

    /// Makes an empty queue; `report` is called on any thread, in order, and not again after it was told of an end.
    init(report: @escaping @Sendable (AppendQueue, Report) -> Void) {
        self.report = report
    }

    // MARK: For the room

    /// Begins nothing more: the log is known to be elsewhere, and it would be in vain.
    func overtake() {
        state.withLock { $0.isOvertaken = true }
    }

    /// Lets the next append wait a little, so that another server may get in between.
    func rest() {
        state.withLock { $0.isToRest = true }
    }

    // MARK: For group commit

    /// What the next append takes at least, as ``LogShares`` counts.
    var cost: Int { state.withLock { $0.parts.first?.cost ?? 0 } }

    /// Adds a part; returns whether the queue is to be listed.
    func add(_ append: StreamAppend, commands: Int) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return false }
            state.parts.append(Part(append, commands: commands))
            defer { state.isListed = true }
            return !state.isListed
        }
    }

    /// Takes no more parts, and ends when those are written that it has.
    func close() {
        let isOver = state.withLock { state in
            guard state.end == nil else { return false }
            state.end = .failed(.closed, underWay: 0)
            return !state.isListed
        }
        if isOver { report(self, .failed(.closed, underWay: 0)) }
    }

    /// Begins the next append: the parts that wait, together, or the first half of them where they are many; nil where
    /// there is nothing to write.
    ///
    /// Half of many commands is written while the room still shows and answers the other half.
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

    /// What comes after an append.
    enum Next {
        /// Another one, at once.
        case append
        /// Another one, after a little while.
        case rest
        /// Nothing, for now or for good.
        case nothing
    }

    /// Ends what ``begin()`` began.
    func end(_ outcome: Result<AppendOutcome, StorageFault>) -> Next {
        let written = state.withLock { state in
            defer { state.underWay = 0 }
            return state.underWay
        }
        switch outcome {
        case .success(.appended):
            // Before anything else can be reported.
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

    /// So many commands are always written together.
    static let commandsTogether = 64
    /// What follows a part is not written together with it beyond so much: writing and showing it keeps others waiting.
    private static let costTogether = 1_024
}

extension StreamAppend {
    /// What follows one another, as one; nil where there is nothing.
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
            for session in part.joined { areMembers[session] = true }
            for session in part.left { areMembers[session] = false }
        }
        joined = areMembers.filter(\.value).map(\.key)
        left = areMembers.filter { !$0.value }.map(\.key)
    }
}
