import Synchronization

/// Elements that one task waits for; nil once there are no more.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isFinished = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func push(_ element: Element) {
        state.withLock { state in
            state.elements.append(element)
            return state.waiting.take()
        }?.resume()
    }

    func finish() {
        state.withLock { state in
            state.isFinished = true
            return state.waiting.take()
        }?.resume()
    }

    func next() async -> Element? {
        while true {
            let (element, isOver) = state.withLock { state in
                let element = state.elements.isEmpty ? nil : state.elements.removeFirst()
                return (element, state.isFinished || Task.isCancelled)
            }
            if element != nil || isOver { return element }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        guard state.elements.isEmpty, !state.isFinished, !Task.isCancelled else { return true }
                        state.waiting = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiting.take() }?.resume()
            }
        }
    }
}
