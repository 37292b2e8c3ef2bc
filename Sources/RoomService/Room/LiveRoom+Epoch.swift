import EventStorage
import NIOCore
import RoomDomain

extension LiveRoom {
    /// Loads the whole room: its log is another one than it was, because a backup was restored or it was rewritten.
    ///
    /// The room stays the one that it is, with those who follow it and those who wait; all that it knew of the other log
    /// goes.
    func loadAnew() {
        let (id, loop, dependencies) = (id, loop, dependencies)
        let isStarted = dependencies.jobs.start {
            let result = await DecodedRoom.load(id, in: dependencies)
            loop.execute { self.assumeIsolated { $0.loadedAnew(result) } }
        }
        if !isStarted { giveUpReading(as: .stale, .unavailable) }
    }

    private func loadedAnew(_ result: Result<DecodedRoom, RoomFailure>) {
        switch result {
        case .success(let loaded): begin(anew: loaded)
        case .failure(.noSuchRoom): forget()
        case .failure(let failure): giveUpReading(as: .stale, failure)
        }
    }

    /// Shows everybody who follows the room as it is, and decides what waited.
    private func begin(anew loaded: DecodedRoom) {
        epoch = loaded.head.epoch
        version = loaded.head.version
        confirmed = loaded.state
        keys = loaded.keys
        recent = loaded.recent
        snapshotSeq = loaded.snapshotSeq
        encodeAnew()
        grace = PresenceGrace()
        lastSeen = [:]
        for (session, feeds) in audience.remove(Set(audience.sessions.filter { refusal(of: $0) != nil })) {
            for feed in feeds { feed.sessionBanned(session, from: id) }
        }
        for feed in audience.feeds { feed.roomBegan(id) }
        let connected = audience.sessions.compactMap { confirmed.memberOfSession[$0] }
        reviewPresence(
            of: presence.members.union(connected).union(dependencies.presence.elsewhere(in: id)))
        reviewOwner()
        becomeCurrent()
    }

    /// Ends the room: there is no such log any more.
    func forget() {
        let feeds = Array(audience.feeds)
        audience = RoomAudience()
        grace = PresenceGrace()
        for feed in feeds { feed.roomForgotten(id) }
        reviewPresence(of: presence.members)
        dependencies.presence.setCount(nil, of: id)
        giveUpReading(as: .forgotten, .noSuchRoom)
    }
}
