import RoomDomain
import RoomReplica
import RoomWire

// The store's values as the machine has them. What cannot be read is as if it had not been stored.

extension OutboxCommand {
    init?(_ stored: StoredCommand) {
        guard let room = RoomWire.RoomReference(stored.room),
            let command = try? CommandJSON.parse(body: stored.command)
        else { return nil }
        self.init(
            number: CommandNumber(rawValue: stored.ordinal), room: room, key: stored.key, command: command,
            expiresAt: Timestamp(milliseconds: stored.expiresAt), isKept: true,
            sending: stored.sentEpoch.map { Sending(epoch: $0, keyed: stored.sentKeyed) })
    }
}

extension StoredCommand {
    init(_ command: OutboxCommand) {
        self.init(
            ordinal: command.number.rawValue, room: command.room.text, key: command.key,
            command: CommandJSON.encode(body: command.command), sentEpoch: command.sending?.epoch,
            sentKeyed: command.sending?.keyed, expiresAt: command.expiresAt.milliseconds)
    }
}

extension RoomReplica.StoredRoom {
    /// Nil also where the state is of another position: it must never be resumed from that one.
    init?(_ stored: StoredRoom) {
        let position = RoomWire.Position(epoch: stored.epoch, seq: stored.sequence)
        guard let answer = try? HTTPBody.RoomAnswer.parse(stored.state), answer.position == position else { return nil }
        self.init(position: position, keyed: stored.keyed, state: answer.state, you: answer.you)
    }
}

extension StoredRoom {
    init(_ room: RoomReplica.StoredRoom) {
        let answer = HTTPBody.RoomAnswer(
            position: room.position, keyed: room.keyed, time: Timestamp(milliseconds: 0), state: room.state,
            presence: nil, you: room.you)
        self.init(
            epoch: room.position.epoch, sequence: room.position.seq, keyed: room.keyed, state: answer.encoded())
    }
}
