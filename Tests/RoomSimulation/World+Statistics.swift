import EventStorage
import FoundationEssentials
import RoomDomain
import RoomStatistics

extension World {
    /// The first room that is not counted to its head; nil if there is none.
    func missingCount() -> String? {
        let rooms = truth.rooms
        let counted = try? log.carryOut { log throws(StorageFault) in
            try await log.countedStreams(rooms.map(\.uuid))
        }.get()
        for room in counted ?? [] {
            guard let position = room.counted else { return "\(RoomID(room.stream)) is not counted" }
            guard position.epoch == room.head.epoch, position.seq == room.head.version.seq else {
                return "\(RoomID(room.stream)) is counted to \(position), not to \(room.head)"
            }
        }
        return nil
    }

    /// Compares all that is counted of a room with the fold of its log.
    func compareCounts(of room: RoomID) {
        guard let known = truth.room(room) else { return }
        var tally = RoomTally(of: room, in: known.epoch, after: 0)
        for (event, state) in zip(known.events, known.states.dropFirst()) { tally.add(event, in: state) }
        let expected = tally.flush(at: Timestamp(milliseconds: Int64(SimulatedNode.beginning)))
        let stored = log.carryOut { log throws(StorageFault) -> (StreamCounts?, StreamPlays?) in
            (
                try await log.counts(of: room.uuid, from: 0, to: .max),
                try await log.plays(of: room.uuid, from: 0, to: .max, before: nil, limit: .max)
            )
        }
        guard case .success((let counts?, let plays?)) = stored else {
            return truth.complain("\(room) has no counts")
        }
        if counts.counts != expected.counts {
            truth.complain("\(room) counts \(counts.counts), not \(expected.counts)")
        }
        if plays.plays.sorted(by: { $0.place < $1.place }) != expected.plays.sorted(by: { $0.place < $1.place }) {
            truth.complain("\(room) has played \(plays.plays), not \(expected.plays)")
        }
    }
}
