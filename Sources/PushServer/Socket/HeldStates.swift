import RoomService
import Synchronization

/// Rooms' states on their way to peers: each is charged once to the process, and once to each address, for as long as
/// somebody there has not taken all of it.
///
/// A state is there once for all who are given it, but for as long as one of them is on the way through it, also where the
/// room has moved on. A client that reads nothing and asks for ever new positions is charged for each of them.
final class HeldStates: Sendable {
    /// Keeps a state charged until this is gone.
    final class Hold: Sendable {
        private let states: HeldStates
        private let place: Place
        private let steps: Int

        fileprivate init(_ states: HeldStates, _ place: Place, steps: Int) {
            self.states = states
            self.place = place
            self.steps = steps
        }

        deinit {
            states.count(-1, at: place, steps: steps)
        }
    }

    /// A state in one of its two forms.
    fileprivate struct Name: Hashable {
        let number: UInt64
        let isCompressed: Bool
    }

    /// Who holds what.
    fileprivate struct Place: Hashable {
        let name: Name
        /// Where the peer comes from (``PeerAddress/network``); nil where that is not known or stands for many.
        let network: UInt64?
    }

    private struct State {
        var holders: [Name: Int] = [:]
        var holdersOfNetwork: [Place: Int] = [:]
    }

    private let waiting: WaitingBytes
    private let state = Mutex(State())

    /// Charges `waiting`.
    init(_ waiting: WaitingBytes) {
        self.waiting = waiting
    }

    /// Charges so many bytes of a state to an address, whether there is room for them or not; nil where they are too few to
    /// be charged.
    func hold(_ shared: SharedState, isCompressed: Bool = false, bytes: Int, of network: UInt64?) -> Hold? {
        guard bytes >= WaitingBytes.step else { return nil }
        let place = Place(name: Name(number: shared.number, isCompressed: isCompressed), network: network)
        let steps = bytes / WaitingBytes.step
        count(1, at: place, steps: steps)
        return Hold(self, place, steps: steps)
    }

    private func count(_ change: Int, at place: Place, steps: Int) {
        state.withLock { state in
            // The first and the last count.
            if Self.add(change, to: &state.holders[place.name]) { waiting.add(change * steps, of: nil) }
            guard let network = place.network else { return }
            if Self.add(change, to: &state.holdersOfNetwork[place]) {
                waiting.add(change * steps, ofAddress: network)
            }
        }
    }

    /// Changes a count; returns whether it began or ended.
    private static func add(_ change: Int, to count: inout Int?) -> Bool {
        let before = count ?? 0
        count = before + change == 0 ? nil : before + change
        return before == 0 || count == nil
    }
}
