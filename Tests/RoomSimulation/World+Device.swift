import RandomTestSupport
import RoomDomain
import RoomService
import RoomTestSupport
import SimulatedTime

/// A DJ's device that was offline and has sent its deck.
struct ReturnedDevice {
    var device: OfflineDevice
    /// Whether its deck tells what cannot be, and must be refused.
    var isConfused: Bool
}

extension World {
    /// The time in milliseconds that no server's clock is behind.
    private var sureTime: Int64 {
        Int64(SimulatedNode.beginning + (plan.skews.min() ?? 0)) + scheduler.now / 1_000_000
    }

    /// The device of a DJ has been offline and comes back: it sends what it plays, and what was heard meanwhile.
    func bringDeckAlong(to room: RoomID) {
        guard let known = truth.room(room) else { return }
        // It may have missed what others did last. It knows what it played itself by its entry.
        let missed = known.state.onAir != nil && dice.once(in: 3) ? dice.number(in: 1...6) : 0
        let state = known.states[max(1, known.head - missed)]
        guard state.isOpen, missed == 0 || state.onAir != nil, let owner = player(in: state) else { return }
        let end = max(state.lastEventAt.milliseconds, sureTime)
        let free = state.onAir?.startedAt ?? state.history.first?.endedAt ?? state.createdAt
        let since = free.milliseconds + Int64(dice.number(in: 0...Int(end - free.milliseconds)))
        let device = OfflineDevice(
            knowing: state, since: Timestamp(milliseconds: since), until: Timestamp(milliseconds: end),
            steps: dice.number(in: 0...6), tellsAll: true, random: SeededRandom(seed: dice.bits()))
        var deck = device.deck
        let isConfused = dice.once(in: 6) && confuse(&deck)
        devices[wishes.count] = ReturnedDevice(device: device, isConfused: isConfused)
        wish(owner, room, .syncDeck(deck), key: dice.once(in: 5) ? nil : "\(wishes.count)")
    }

    private func player(in state: RoomState) -> Client? {
        dice.element(
            of: clients.filter { client in
                let role = state.memberOfSession[client.session.id].flatMap { state.members[$0]?.role }
                return !client.isLeaving && (role == .owner || role == .dj)
            })
    }

    /// Makes a deck tell what cannot be, whatever the room is like; false if it has heard too little for that.
    private func confuse(_ deck: inout Deck) -> Bool {
        let lasted = deck.played.indices.filter { place in
            let end = deck.played[place].endedAt ?? deck.played[place].startedAt
            return place > 0 && deck.played[place - 1].startedAt < deck.played[place].startedAt && end.milliseconds > 0
        }
        guard let place = dice.element(of: lasted) else { return false }
        let played = deck.played[place]
        let end = played.endedAt?.milliseconds ?? played.startedAt.milliseconds + played.playedMs
        deck.played[place].endedAt = Timestamp(milliseconds: end)
        switch dice.number(in: 0..<3) {
        case 0:
            let before = deck.played[place - 1]
            let free = before.endedAt?.milliseconds ?? before.startedAt.milliseconds + before.playedMs
            deck.played[place].startedAt = Timestamp(milliseconds: free - 1)
        case 1: deck.played[place].endedAt = Timestamp(milliseconds: end + 1_000_000_000)
        default: deck.played[place].playedMs = end - deck.played[0].startedAt.milliseconds + 1
        }
        return true
    }

    /// Complains if the room that has accepted a deck does not show what the device played.
    func compareDevice(of number: Int, _ outcome: CommandOutcome) {
        guard let returned = devices[number], case .acknowledged(let seq, _, _) = outcome else { return }
        let room = wishes[number].room
        guard !returned.isConfused else {
            return truth.complain("wish \(number) tells what cannot be, and is believed")
        }
        guard let states = truth.room(room)?.states, states.indices.contains(seq) else { return }
        for difference in returned.device.differences(from: states[seq], isAlone: false) {
            truth.complain("after wish \(number), \(room) is not as the device knows it: \(difference)")
        }
    }
}
