import RoomDomain
import RoomReplica
import RoomWire
import Testing

/// What a replica does with messages that a random history does not have.
@Suite struct ReplicaTests {
    private let room = ServedRoom.kitchenID

    private func served(_ more: [RoomEvent] = []) -> ServedRoom { .kitchen(more) }

    private func replica() throws -> Replica { try Replica(receiving: served().snapshot(at: 5)) }

    private func unknown(_ seq: Int) -> ShownEvent {
        .unknown(type: "tracksShuffled", seq: seq, at: Timestamp(milliseconds: 9))
    }

    @Test func `an event of an unknown type moves the position and changes nothing`() throws {
        var replica = try replica()
        let before = replica.state
        #expect(try replica.take([unknown(6), unknown(7)]) == [])
        #expect(replica.position == Position(epoch: "e1", seq: 7))
        #expect(replica.state == before)
    }

    @Test func `events that the replica has change nothing`() throws {
        var replica = try replica()
        #expect(try replica.receive(served().delta(2, 5)) == [])
        #expect(replica.position.seq == 5)
    }

    @Test func `events with a hole are refused as a whole`() throws {
        var replica = try replica()
        #expect(throws: EventHole(reached: 6, found: 8)) { try replica.take([unknown(6), unknown(8)]) }
        #expect(replica.position.seq == 5)
    }

    @Test func `a vote moves a track among the requests`() throws {
        var replica = try replica()
        #expect(replica.requests.tracks == [1, 3].map(TrackID.init(rawValue:)))
        let votes = TrackVotes(track: TrackID(rawValue: 3), votes: 2, requestedSeq: 5, isMine: true)
        let event = RoomEvent.voteCast(track: votes.track, by: MemberID(rawValue: 2), votes: 2, requestedSeq: 5)
        #expect(
            try replica.take([.known(RecordedEvent(seq: 6, at: Timestamp(milliseconds: 6), event: event))])
                == [.votes(votes)])
        #expect(replica.requests.tracks == [3, 1].map(TrackID.init(rawValue:)))
    }

    @Test func `tracks come with their places in the pool`() throws {
        let room = served([
            .tracksAdded(
                tracks: [4, 5].map { number in
                    NumberedTrack(
                        id: TrackID(rawValue: number),
                        info: TrackInfo(source: "file", sourceID: "x", title: "B\(number)"))
                }, by: .one)
        ])
        var replica = try replica()
        let changes = try replica.receive(room.delta(6, 6))
        guard case .tracksAdded(let placed)? = changes.first else {
            Issue.record("\(changes)")
            return
        }
        #expect(placed.map(\.place) == [1, 2])
        #expect(placed.map(\.track.id.rawValue) == [4, 5])
        #expect(replica.pool.map(\.rawValue) == [2, 4, 5, 1, 3])
    }

    @Test func `a resumption of another epoch is refused`() throws {
        var replica = try replica()
        let reached = replica.position
        let other = Position(epoch: "e2", seq: 9)
        #expect(throws: WrongResumption(reached: reached, resumed: other)) {
            try replica.take(
                .init(re: 1, room: room, position: other, keyed: 1, you: nil, presence: .nobody))
        }
        #expect(replica.position == reached)
    }

    @Test func `a resumption before the replica's position is refused`() throws {
        var replica = try replica()
        #expect(throws: WrongResumption.self) { try replica.receive(served().resumed(at: 4)) }
    }

    @Test func `a frame without lists makes the online members unknown until the next one with lists`() throws {
        var replica = try replica()
        #expect(replica.take(online: 2, .init(on: [.one], off: [])) == [.online(2, [.one])])
        #expect(replica.take(online: 2_000, nil) == [.online(2_000, nil)])
        let both = Set([1, 2].map(MemberID.init(rawValue:)))
        #expect(replica.take(online: 2, .init(on: both.sorted(), off: [])) == [.online(2, both)])
    }

    @Test func `on comes before off`() throws {
        var replica = try replica()
        #expect(replica.take(online: 0, .init(on: [.one], off: [.one])) == [.online(0, [])])
    }

    @Test func `the count of keyed commands never goes back in one epoch`() throws {
        var replica = try replica()
        replica.note(keyed: 12)
        replica.note(keyed: 9)
        #expect(replica.keyed == 12)
        _ = try replica.receive(served().snapshot(at: 5))
        #expect(replica.keyed == 12)
    }

    @Test func `a forgotten room has no names and no place`() throws {
        var replica = try replica()
        let closed = RecordedEvent(seq: 6, at: Timestamp(milliseconds: 7), event: .roomClosed(forget: true))
        #expect(try replica.take([.known(closed)]) == [.reset])
        #expect(replica.members.values.map(\.name) == ["-"])
        #expect(replica.properties.closedAt == Timestamp(milliseconds: 7))
    }

    @Test func `requests of a snapshot that are out of order are sorted`() throws {
        var shown = try replica().state
        shown.requests.reverse()
        let stored = StoredRoom(position: Position(epoch: "e1", seq: 5), keyed: nil, state: shown, you: nil)
        #expect(Replica(stored).requests.tracks == [1, 3].map(TrackID.init(rawValue:)))
    }
}
