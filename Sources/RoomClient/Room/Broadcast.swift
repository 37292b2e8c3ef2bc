import Synchronization

/// Gives what comes to any number of streams, each of which is held by those who read it only.
final class Broadcast<Element: Sendable>: Sendable {
    private struct Listener {
        weak var inbox: Inbox<Element>?
    }

    private let listeners = Mutex<[Listener]>([])

    /// A stream of what comes from now on; `limit` bounds what waits for its reader.
    func stream(_ limit: Inbox<Element>.Limit) -> AsyncStream<Element> {
        let inbox = Inbox<Element>(limit)
        listeners.withLock { $0.append(Listener(inbox: inbox)) }
        return AsyncStream { await inbox.next() }
    }

    func yield(_ element: Element) {
        let inboxes = listeners.withLock { listeners in
            listeners.removeAll { $0.inbox == nil }
            return listeners.compactMap(\.inbox)
        }
        for inbox in inboxes { inbox.push(element) }
    }
}

/// What waits for one reader.
final class Inbox<Element: Sendable>: Sendable {
    enum Limit: Sendable {
        /// Only the newest so many are kept.
        case newest(Int)
        /// Nothing is dropped: the stream ends where more than so many bytes would wait.
        case bytes(Int, of: @Sendable (Element) -> Int)
    }

    private struct State {
        var waiting: [Element] = []
        var bytes = 0
        var hasEnded = false
    }

    private let limit: Limit
    private let state = Mutex(State())
    private let bell = Bell()

    init(_ limit: Limit) { self.limit = limit }

    func push(_ element: Element) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            switch limit {
            case .newest(let most):
                if state.waiting.count >= most { state.waiting.removeFirst() }
            case .bytes(let most, let size):
                state.bytes += size(element)
                if state.bytes > most { state.hasEnded = true }
            }
            if !state.hasEnded { state.waiting.append(element) }
        }
        bell.ring()
    }

    func next() async -> Element? {
        repeat {
            let (element, isOver) = state.withLock { state -> (Element?, Bool) in
                guard !state.waiting.isEmpty else { return (nil, state.hasEnded) }
                let element = state.waiting.removeFirst()
                if case .bytes(_, let size) = limit { state.bytes -= size(element) }
                return (element, false)
            }
            if element != nil || isOver { return element }
        } while await bell.wait()
        return nil
    }
}
