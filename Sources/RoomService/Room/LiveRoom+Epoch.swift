import EventStorage
import NIOCore
import RoomDomain

extension LiveRoom {
    /// Loads the whole room again, because its log was replaced: a backup was restored, or the log was rewritten.
    ///
    /// The room remains the same object, with its followers and its waiting requests; everything that it knew of the
    /// other log is dropped.
    func loadAnew() {
        let (id, loop, dependencies) = (id, loop, dependencies)
        let isStarted = dependencies.jobs.start {
            let result = await DecodedRoom.load(id, in: dependencies)
            loop.execute { self.assumeIsolated { $0.loadedAnew(result) } }
        }
        if !isStarted { run(writer.read(.failed(.unavailable))) }
    }

    private func loadedAnew(_ result: Result<DecodedRoom, RoomFailure>) {
        switch result {
        case .success(let loaded):
            recent = loaded.recent
            snapshotSeq = loaded.snapshotSeq
            run(writer.read(.room(loaded)))
        case .failure(.noSuchRoom): run(writer.read(.gone))
        case .failure(let failure): run(writer.read(.failed(failure)))
        }
    }

    /// Shows the room of the new log to all followers.
    func begin() {
        encodeAnew()
        grace = PresenceGrace()
        lastSeen = [:]
        for (session, feeds) in audience.remove(Set(audience.sessions.filter { refusal(of: $0) != nil })) {
            for feed in feeds { feed.tell(.banned(session, from: id)) }
        }
        for feed in audience.feeds { feed.tell(.replaced(id)) }
        let connected = audience.sessions.compactMap { confirmed.memberOfSession[$0] }
        reviewPresence(
            of: presence.members.union(connected).union(dependencies.presence.elsewhere(in: id)))
        reviewDeck()
        reviewOwner()
    }

    /// Ends the room, whose log no longer exists.
    func forget() {
        let feeds = Array(audience.feeds)
        audience = RoomAudience()
        grace = PresenceGrace()
        for feed in feeds { feed.tell(.forgotten(id)) }
        endClaim()
        reviewPresence(of: presence.members)
        dependencies.presence.setCount(nil, of: id)
    }
}
