import EventStorage
import Synchronization

/// One room's appends, in the order in which they were decided, each against what the one before it makes.
///
/// One is under way at a time; what is handed over meanwhile becomes the next one. When an append conflicts or fails, the
/// chain is broken: what was handed over behind it is never written, since it was decided against what is not so.
final class AppendChain: Sendable {
    /// What is called, on any thread, in order: how many of the parts handed over are durable, or, once and at last, why
    /// none of the others is.
    typealias Report = @Sendable (Result<Int, Break>) -> Void

    /// Why a chain is broken.
    enum Break: Error {
        /// The room's log is not where it was expected.
        case conflict
        /// The store failed.
        case fault(StorageFault)
    }

    private struct Part {
        var append: StreamAppend
        var commands: Int
    }

    private struct State {
        var parts: [Part] = []
        /// Parts that are being written.
        var underWay = 0
        /// Whether group commit knows that there is something to write, or is writing.
        var isListed = false
        /// Whether nothing more is begun.
        var isStopped = false
        var isBroken = false
    }

    private let state = Mutex(State())
    private let report: Report

    init(report: @escaping Report) {
        self.report = report
    }

    /// Adds a part; returns whether group commit is to list the chain.
    func add(_ append: StreamAppend, commands: Int) -> Bool {
        state.withLock { state in
            guard !state.isBroken else { return false }
            state.parts.append(Part(append: append, commands: commands))
            defer { state.isListed = true }
            return !state.isListed
        }
    }

    /// Begins the next append: the parts that wait, together, or the first of them where they are many.
    ///
    /// Half of many commands is written while the room still shows and answers the other half.
    func begin() -> StreamAppend? {
        state.withLock { state in
            guard var append = state.parts.first?.append else { return nil }
            let most = max(Self.commandsTogether, state.parts.reduce(0) { $0 + $1.commands } / 2)
            var commands = state.parts[0].commands
            state.underWay = 1
            for part in state.parts.dropFirst() {
                commands += part.commands
                guard commands <= most else { break }
                append.add(part.append)
                state.underWay += 1
            }
            return append
        }
    }

    /// Ends what ``begin()`` began; returns whether there is more to write.
    func end(_ outcome: Result<AppendOutcome, StorageFault>) -> Bool {
        switch outcome {
        case .success(.appended):
            let (durable, hasMore, isStopped) = state.withLock { state in
                state.parts.removeFirst(state.underWay)
                state.isListed = !state.parts.isEmpty
                return (state.underWay, state.isListed, state.isStopped)
            }
            report(.success(durable))
            guard hasMore, isStopped else { return hasMore }
            tear(.conflict)
        case .success(.conflict): tear(.conflict)
        case .failure(let fault): tear(.fault(fault))
        }
        return false
    }

    /// Begins nothing more: the log is known to be elsewhere, and it would be in vain.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    /// Takes no more, and reports why.
    func tear(_ reason: Break) {
        state.withLock { state in
            state.isBroken = true
            state.parts = []
        }
        report(.failure(reason))
    }

    /// So many commands are always written together.
    static let commandsTogether = 64
}

extension StreamAppend {
    /// Adds what follows it.
    fileprivate mutating func add(_ next: StreamAppend) {
        events += next.events
        keys += next.keys
        directory = next.directory ?? directory
        forgetAt = next.forgetAt ?? forgetAt
        if !next.joined.isEmpty || !next.left.isEmpty {
            let touched = Set(next.joined + next.left)
            joined = joined.filter { !touched.contains($0) } + next.joined
            left = left.filter { !touched.contains($0) } + next.left
        }
    }
}
