import NIOCore
import RoomDomain
import RoomWire

/// Receives the notices of other servers, and passes them to the parts that they concern.
struct ClusterInbox: Sendable {
    private let registry: RoomRegistry
    private let sessions: SessionRegistry
    private let ending: SessionEnding
    private let presence: PresenceRegistry
    private let metrics: BusMetrics

    init(registry: RoomRegistry, sessions: SessionRegistry, ending: SessionEnding) {
        self.registry = registry
        self.sessions = sessions
        self.ending = ending
        presence = registry.dependencies.presence
        metrics = registry.dependencies.metrics.bus
    }

    /// Handles an event of the bus; called on any thread, one event after the other.
    func heard(_ event: ClusterBus.Event) {
        switch event {
        case .connected:
            metrics.changed(isConnected: true)
            presence.noteHearing(true)
            presenceMoved(presence.connected())
            // Finds the events that were announced while this server could not hear.
            registry.dependencies.jobs.start { await registry.compareFollowedRooms() }
        case .disconnected:
            metrics.changed(isConnected: false)
            presence.noteHearing(false)
        case .notice(let notice, from: let node):
            switch notice {
            case .moved(let rooms): registry.hear(rooms)
            case .sessionEnded(let session):
                sessions.noteEnd(of: session)
                ending.tellEnd(of: session)
            case .presenceChanged, .presenceList, .presenceBeat, .presenceWanted, .presenceEnded,
                .decksChanged, .deckList:
                presenceMoved(presence.heard(notice, from: node))
            case .reaction(let room, from: let member, emoji: let emoji):
                registry.withLiveRooms([room: emoji]) { $0.heard(.reaction($1, from: member)) }
            case .signal(let room, from: let member, to: let recipient, let data):
                registry.withLiveRooms([room: data]) { $0.heard(.signal($1, from: member, to: recipient)) }
            }
        }
    }

    /// Regularly announces that this server is alive, and notices when others are not, until the task is cancelled.
    func keepPresence() async {
        let interval = TimeAmount.nanoseconds(registry.dependencies.settings.presence.beat.nanoseconds / 5)
        while !Task.isCancelled {
            presenceMoved(presence.tick())
            await registry.dependencies.clock.sleep(for: interval)
        }
    }

    /// Tells the rooms in memory what other servers have reported of them.
    private func presenceMoved(_ news: PresenceRegistry.News) {
        if !news.members.isEmpty { registry.withLiveRooms(news.members) { $0.heard(.presence($1)) } }
        guard !news.decks.isEmpty else { return }
        registry.withLiveRooms(Dictionary(uniqueKeysWithValues: news.decks.map { ($0, true) })) { room, _ in
            room.heard(.deck)
        }
    }
}
