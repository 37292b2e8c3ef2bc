import RoomDomain
import RoomReplica
import RoomWire
import Testing

@Suite struct FollowingTests {
    /// A room of which eight events are known.
    private let room = ServedRoom.kitchen([
        .voteCast(track: .two, by: .one, votes: 1, requestedSeq: 6),
        .voteWithdrawn(track: .two, by: .one, votes: 0, requestedSeq: nil),
        .voteCast(track: .two, by: .one, votes: 1, requestedSeq: 8),
    ])

    private func connected() -> Following {
        var following = Following(.id(ServedRoom.kitchenID))
        _ = following.connected(isAsked: false)
        following.asked(1)
        return following
    }

    /// A room that is followed at event 5.
    private func live() throws -> Following {
        var following = connected()
        _ = following.take(try room.snapshotMessage(at: 5, re: 1))
        return following
    }

    private func position(_ seq: Int) -> Position { Position(epoch: ServedRoom.epoch, seq: seq) }

    @Test func `a room that is not known is asked for a snapshot, which begins it`() throws {
        var following = Following(.id(ServedRoom.kitchenID))
        #expect(following.phase == .connecting)
        #expect(following.connected(isAsked: false) == [.ask(nil)])
        following.asked(1)
        #expect(
            following.take(try room.snapshotMessage(at: 5, re: 1))
                == [.began, .changed([.reset]), .answered(keyed: 100), .phase(.live)])
        #expect(following.replica?.position == position(5))
    }

    @Test func `after a lost connection a room is resumed from its position`() throws {
        var following = try live()
        #expect(following.disconnected() == [.phase(.offline)])
        #expect(following.connected(isAsked: false) == [.ask(position(5))])
        following.asked(2)
        let steps = following.take(room.resumedMessage(at: 7, re: 2))
        #expect(steps.suffix(2) == [.answered(keyed: 100), .phase(.catchingUp(to: 7))])
        #expect(following.take(room.shown(6, 6)).count == 1)
        #expect(following.take(room.shown(7, 7)).last == .phase(.live))
    }

    @Test func `a room that was kept is resumed, and is offline before`() {
        let stored = StoredRoom(
            position: position(5), keyed: 3, state: Replica(stored(at: 5)).state, you: room.you(at: 5))
        var following = Following(.code(.zero))
        #expect(following.adopt(stored) == [.began, .changed([.reset]), .phase(.offline)])
        #expect(following.adopt(stored) == [])
        #expect(following.id == ServedRoom.kitchenID)
        #expect(following.connected(isAsked: false) == [.ask(position(5))])
    }

    private func stored(at seq: Int) -> StoredRoom {
        StoredRoom(
            position: position(seq), keyed: 3,
            state: (try? StateJSON.decode(StateJSON.encode(room.states[seq]))) ?? emptyState, you: room.you(at: seq))
    }

    private var emptyState: ShownState {
        ShownState(
            id: ServedRoom.kitchenID, code: .zero, name: "", createdAt: Timestamp(milliseconds: 0), visibility: .public)
    }

    @Test func `an event that changes nothing moves the position, and that is told`() throws {
        var following = try live()
        let unknown = ShownEvent.unknown(type: "lightsDimmed", seq: 6, at: Timestamp(milliseconds: 0))
        #expect(following.take([unknown]) == [.changed([])])
        #expect(following.replica?.position == position(6))
        #expect(following.take([unknown]) == [])
    }

    @Test func `a socket that was opened for the room needs no question`() throws {
        var following = Following(.code(.zero))
        #expect(following.connected(isAsked: true) == [])
        #expect(following.ask() == [])
        #expect(following.take(try room.snapshotMessage(at: 5)).contains(.answered(keyed: 100)))
        #expect(following.phase == .live)
    }

    @Test func `events after a hole are left out, and the room is asked once`() throws {
        var following = try live()
        #expect(following.take(room.shown(7, 7)) == [.ask(position(5))])
        following.asked(2)
        #expect(following.take(room.shown(8, 8)) == [])
        #expect(following.replica?.position == position(5))
        _ = following.take(room.resumedMessage(at: 8, re: 2))
        #expect(following.take(room.shown(6, 8)).last == .phase(.live))
    }

    @Test func `a beat ahead with nothing in flight asks, and one that is not does not`() throws {
        var following = try live()
        #expect(following.beat(5) == [])
        #expect(following.beat(4) == [])
        #expect(following.beat(6) == [.ask(position(5))])
        following.asked(2)
        #expect(following.beat(7) == [])
        _ = following.take(room.resumedMessage(at: 7, re: 2))
        #expect(following.beat(8) == [], "events are on their way")
    }

    @Test func `another epoch begins the room anew, and the same one does not`() throws {
        var following = try live()
        #expect(following.take(try room.snapshotMessage(at: 7)) == [.changed([.reset])])
        #expect(following.take(try room.snapshotMessage(at: 2, epoch: "e2")) == [.began, .changed([.reset])])
        #expect(following.replica?.position == Position(epoch: "e2", seq: 2))
    }

    @Test func `a snapshot that nobody asked for is no answer, and ends what was on its way`() throws {
        var following = try live()
        _ = following.disconnected()
        _ = following.connected(isAsked: false)
        following.asked(2)
        _ = following.take(room.resumedMessage(at: 8, re: 2))
        #expect(following.take(try room.snapshotMessage(at: 8)) == [.changed([.reset]), .phase(.live)])
    }

    @Test func `a resumption that does not fit asks for a snapshot`() throws {
        var following = try live()
        _ = following.beat(6)
        following.asked(2)
        #expect(following.take(room.resumedMessage(at: 8, re: 2, epoch: "e2")) == [.ask(nil)])
    }

    @Test func `a late answer of an earlier connection is no answer`() throws {
        var following = try live()
        _ = following.disconnected()
        #expect(following.take(room.resumedMessage(at: 8, re: 1)) == [])
        #expect(following.take(room.shown(6, 8)) == [])
        #expect(following.take(try room.snapshotMessage(at: 8, re: 1)) == [])
        #expect(following.replica?.position == position(5))
    }

    @Test func `a ban ends the room, and no connection asks it again`() throws {
        var following = try live()
        let banned = Refusal(ErrorName(.banned), "no", retryAfterMs: 9, reason: "Too loud")
        let end = Refusal(banned.code, "you are banned from the room", retryAfterMs: 9, reason: "Too loud")
        #expect(following.refused(banned, at: .at(0)) == [.phase(.ended(end))])
        #expect(following.disconnected() == [])
        #expect(following.connected(isAsked: false) == [])
        #expect(following.take(room.shown(6, 6)) == [])
    }

    @Test func `a room that does not answer for now is asked again`() throws {
        var following = connected()
        #expect(following.refused(Refusal(ErrorName(.unavailable), retryAfterMs: 500), at: .at(0, random: 30)) == [])
        #expect(following.due == .at(530))
        #expect(following.tick(at: .at(529)) == [])
        #expect(following.tick(at: .at(530)) == [.ask(nil)])
    }

    @Test func `presence before the first snapshot is left out, and after it changes the replica`() throws {
        var following = connected()
        #expect(following.take { $0.take(online: 4, nil) } == [])
        _ = following.take(try room.snapshotMessage(at: 5, re: 1))
        #expect(following.take { $0.take(online: 4, nil) } == [.changed([.online(4, nil)])])
    }
}
