import RoomService
import Synchronization

/// Charges room states on their way to peers: each once to the process, and once to each address whose peers have not
/// taken all of it.
///
/// All who are given a state share its bytes, but it stays in memory while one of them is still taking it, even after
/// the room has changed. A client that reads nothing and keeps asking for new positions is charged for each of them.
final class HeldStates: Sendable {
    /// Keeps a state charged until it is released.
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

    /// A state, and the address that holds it.
    fileprivate struct Place: Hashable {
        let name: Name
        /// The address that the peer comes from (``PeerAddress/network``); nil if that is not known or stands for many.
        let network: UInt64?
    }

    private struct State {
        var holders: [Name: Int] = [:]
        var holdersOfNetwork: [Place: Int] = [:]
    }

    private let waiting: WaitingBytes
    private let state = Mutex(State())

    /// Makes one that charges `waiting`.
    init(_ waiting: WaitingBytes) {
        self.waiting = waiting
    }

    /// Charges bytes of a state to an address, even beyond the limits; nil if they are too few to be charged.
    func hold(_ shared: SharedState, isCompressed: Bool = false, bytes: Int, of network: UInt64?) -> Hold? {
        guard bytes >= WaitingBytes.step else { return nil }
        let place = Place(name: Name(number: shared.number, isCompressed: isCompressed), network: network)
        let steps = bytes / WaitingBytes.step
        count(1, at: place, steps: steps)
        return Hold(self, place, steps: steps)
    }

    private func count(_ change: Int, at place: Place, steps: Int) {
        state.withLock { state in
            // Only the first and the last holder change the charge.
            if Self.add(change, to: &state.holders[place.name]) { waiting.add(change * steps, of: nil) }
            guard let network = place.network else { return }
            if Self.add(change, to: &state.holdersOfNetwork[place]) {
                waiting.add(change * steps, ofAddress: network)
            }
        }
    }

    /// Changes a count; returns whether it left or reached zero.
    private static func add(_ change: Int, to count: inout Int?) -> Bool {
        let before = count ?? 0
        count = before + change == 0 ? nil : before + change
        return before == 0 || count == nil
    }
}
