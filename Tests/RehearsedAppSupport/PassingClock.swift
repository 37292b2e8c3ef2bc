import RoomClient
import Synchronization

/// Another clock, which can be set ahead; whoever sleeps is woken by that.
final class PassingClock: ClientClock {
    private struct State {
        var ahead = Duration.zero
        var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
    }

    private let clock: any ClientClock
    private let state = Mutex(State())

    init(_ clock: any ClientClock) { self.clock = clock }

    var uptime: Duration { clock.uptime + state.withLock { $0.ahead } }

    var date: Int64 { clock.date + Int64(state.withLock { $0.ahead } / .milliseconds(1)) }

    /// Lets time go by.
    func pass(_ time: Duration) {
        let sleepers = state.withLock { state in
            state.ahead += time
            defer { state.sleepers = [:] }
            return state.sleepers.values
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    func sleep(until uptime: Duration) async throws(CancellationError) {
        while self.uptime < uptime {
            guard !Task.isCancelled else { throw CancellationError() }
            let number = state.withLock { state in
                state.last += 1
                return state.last
            }
            let left = uptime - self.uptime
            let timer = Task {
                try? await clock.sleep(until: clock.uptime + left)
                self.wake(number)
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    state.withLock { $0.sleepers[number] = continuation }
                    // It may have been cancelled, or set ahead, before there was anything to wake.
                    if Task.isCancelled || self.uptime >= uptime { wake(number) }
                }
            } onCancel: {
                wake(number)
            }
            timer.cancel()
        }
    }

    private func wake(_ number: Int) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume()
    }
}
