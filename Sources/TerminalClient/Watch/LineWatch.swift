import RoomClient

/// A room in lines: for pipes, screen readers and programs.
///
/// Nothing is ever drawn over, and nothing is told twice.
@MainActor final class LineWatch {
    private let events: WatchEvents
    private let output: PlainOutput
    private let isJSON: Bool
    private var facts = RoomFacts()
    /// The room has been seen, and the connection is lost since.
    private var isOffline = false
    private var hasBegun = false

    init(_ events: WatchEvents, _ output: PlainOutput, isJSON: Bool) {
        self.events = events
        self.output = output
        self.isJSON = isJSON
    }

    /// Prints until the room is closed or nobody reads; throws why the room cannot be watched.
    func run() async throws {
        let reader = OutputReader { [events] in events.tell(.terminal(.closed)) }
        defer { reader.cancel() }
        for await event in events.stream {
            guard try take(event) else { return }
        }
    }

    /// False when nobody reads any more.
    private func take(_ event: WatchEvents.Event) throws -> Bool {
        switch event {
        case .update(let update): return try take(update)
        case .fault(let fault):
            guard !hasBegun, ![401, 403, 404].contains(fault.response?.status) else { return true }
            throw TerminalFailure(ClientError(.unavailable, fault.reason, cause: fault))
        case .ended(let error):
            if let error { throw TerminalFailure(error, room: events.reference.description) }
            return false
        case .changed:
            events.observeStage()
            if case .live = events.room.phase { return isConnected() }
            return true
        case .terminal(.stop), .terminal(.closed): return false
        case .pool, .members, .terminal, .tick, .draw, .settle, .waveform, .notice: return true
        }
    }

    private func take(_ update: RoomUpdate) throws -> Bool {
        switch update {
        case .offline:
            isOffline = true
            let reason = events.session.faults.newest
            guard !isJSON else { return output.print(.fields(["type": .text("link"), "status": .text("offline")])) }
            return output.print("No connection\(reason.map { " (\($0))" } ?? ""). Trying again.")
        case .ended(let error): throw TerminalFailure(error, room: events.reference.description)
        case .reset(let position):
            guard isConnected() else { return false }
            guard let snapshot = events.session.client.snapshot(of: events.reference) else { return true }
            facts = RoomFacts(snapshot)
            let isFirst = !hasBegun
            hasBegun = true
            if isFirst {
                try events.session.remember(Configuration.Room(code: facts.code, name: facts.name))
            }
            facts.sequence = max(facts.sequence, position.sequence)
            let now = events.session.now.milliseconds
            let isRead =
                isJSON
                ? output.print(facts.json)
                : facts.summary(output.signs, at: now).allSatisfy { output.print($0) }
            // Nothing happens any more in a room that was closed before.
            if isRead, facts.isClosed { tell(.closed) }
            return isRead && !facts.isClosed
        case .changed(let changes, let position):
            guard isConnected() else { return false }
            let news = facts.take(changes)
            facts.sequence = position.sequence
            return news.allSatisfy { tell($0) } && !facts.isClosed
        }
    }

    /// False when nobody reads any more.
    @discardableResult private func tell(_ news: RoomNews) -> Bool {
        guard !isJSON else { return output.print(news.json(facts)) }
        return news.sentence(facts, output.signs).map { output.print($0) } ?? true
    }

    /// Says once that the connection is back; before what has changed meanwhile.
    private func isConnected() -> Bool {
        guard isOffline else { return true }
        isOffline = false
        guard !isJSON else { return output.print(.fields(["type": .text("link"), "status": .text("live")])) }
        return output.print("Connected again.")
    }
}
