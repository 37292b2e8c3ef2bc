import FoundationEssentials
import RoomDomain
import RoomWire

extension ServedRoom {
    static let ana = SessionID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    static let kitchenID = RoomID(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))

    /// A room with its owner Ana, the songs 1 to 3 and her votes for 1 and 3: five events, and then `more`.
    static func kitchen(_ more: [RoomEvent] = []) -> ServedRoom {
        let songs = ["Beta", "Alpha", "Gamma"].enumerated().map { number, title in
            NumberedTrack(
                id: TrackID(rawValue: number + 1), info: TrackInfo(source: "file", sourceID: title, title: title))
        }
        let events: [RoomEvent] =
            [
                .roomCreated(
                    RoomCreated(
                        id: kitchenID, code: .zero, name: "Kitchen", location: nil, visibility: .public,
                        settings: RoomSettings())),
                .memberJoined(member: .one, name: "Ana", role: .owner, session: ana),
                .tracksAdded(tracks: songs, by: .one),
                .voteCast(track: .one, by: .one, votes: 1, requestedSeq: 4),
                .voteCast(track: .three, by: .one, votes: 1, requestedSeq: 5),
            ] + more
        return ServedRoom(
            events: events.enumerated().map { number, event in
                RecordedEvent(seq: number + 1, at: Timestamp(milliseconds: Int64(number)), event: event)
            }, session: ana)
    }

    func snapshotMessage(
        at seq: Int, re: Int64? = nil, epoch: String = Self.epoch, keyed: Int? = 100
    ) throws -> ServerMessage.Received.Snapshot {
        guard case .snapshot(var snapshot) = try ServerMessage.Received.parse(snapshot(at: seq, re: re)) else {
            throw UnfitMessage()
        }
        snapshot.position.epoch = epoch
        snapshot.keyed = keyed
        return snapshot
    }

    func resumedMessage(
        at seq: Int, re: Int64? = nil, epoch: String = Self.epoch, keyed: Int? = 100
    ) -> ServerMessage.Received.Resumed {
        .init(
            re: re, room: states[0].id, position: Position(epoch: epoch, seq: seq), keyed: keyed, you: you(at: seq),
            presence: .nobody)
    }

    func shown(_ first: Int, _ last: Int) -> [ShownEvent] { events[(first - 1)..<last].map { .known($0) } }
}

extension MemberID {
    static let one = MemberID(rawValue: 1)
    static let two = MemberID(rawValue: 2)
}

extension TrackID {
    static let one = TrackID(rawValue: 1)
    static let two = TrackID(rawValue: 2)
    static let three = TrackID(rawValue: 3)
    static let seven = TrackID(rawValue: 7)
    static let eight = TrackID(rawValue: 8)
}

extension EntryID {
    static let one = EntryID(rawValue: 1)
    static let two = EntryID(rawValue: 2)
}
