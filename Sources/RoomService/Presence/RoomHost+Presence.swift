import NIOCore
package import RoomDomain
package import RoomWire

extension RoomHost {
    /// Says regularly that this server lives, and notices when others do not, until the task is cancelled.
    func keepPresence() async {
        while !Task.isCancelled {
            presenceMoved(presence.tick())
            await clock.sleep(for: .nanoseconds(settings.presenceBeat.nanoseconds / 5))
        }
    }

    /// Lets the rooms that are in memory know of whom other servers tell something new.
    func presenceMoved(_ moved: [RoomID: Set<MemberID>]) {
        guard !moved.isEmpty else { return }
        withLiveRooms(moved) { $0.reviewPresence(of: $1) }
    }

    /// Runs `body` on their event loops with those of the rooms that are in memory, one hop for each loop.
    func withLiveRooms<Value: Sendable>(
        _ values: [RoomID: Value], _ body: @escaping @Sendable (isolated LiveRoom, Value) -> Void
    ) {
        for (_, values) in Dictionary(grouping: values, by: { ObjectIdentifier(shelf(of: $0.key)) }) {
            guard let first = values.first else { continue }
            let shelf = shelf(of: first.key)
            shelf.loop.execute {
                shelf.assumeIsolated { shelf in
                    for (id, value) in values { shelf.visitLive(id) { body($0, value) } }
                }
            }
        }
    }

    /// Shows everybody in a room what a member reacts with; `reply` is called once, on any thread.
    package func react(
        _ emoji: String, in room: RoomID, by session: SessionID, _ reply: @escaping @Sendable (LiveOutcome) -> Void
    ) {
        withMember(of: room, reply) { $0.react(emoji, by: session, reply) }
    }

    /// Brings something to all connections of a member that follow the room, wherever they are; `reply` is called
    /// once, on any thread.
    ///
    /// What was brought to another server may still get lost there, when that server dies or the member leaves it.
    package func signal(
        _ data: RelayedJSON, to recipient: MemberID, in room: RoomID, by session: SessionID,
        _ reply: @escaping @Sendable (LiveOutcome) -> Void
    ) {
        withMember(of: room, reply) { $0.signal(data, to: recipient, by: session, reply) }
    }

    private func withMember(
        of room: RoomID, _ reply: @escaping @Sendable (LiveOutcome) -> Void,
        _ body: @escaping @Sendable (isolated LiveRoom) -> Void
    ) {
        visit(room) { result in
            switch result {
            case .success(let room): room.assumeIsolated { body($0) }
            case .failure(let failure): reply(.failed(failure))
            }
        }
    }
}
