import RoomDomain

/// The followers of one room: connections by feed, and the sessions behind them.
struct RoomAudience {
    private struct Follower {
        var session: SessionID
        var feed: ObjectIdentifier
    }

    private var followers: [ConnectionID: Follower] = [:]
    private var feedsByIdentity: [ObjectIdentifier: (feed: any RoomFeed, connections: Int)] = [:]
    private var connectionsOfSession: [SessionID: Int] = [:]

    var isEmpty: Bool { followers.isEmpty }

    /// Whether a connection follows.
    func follows(_ connection: ConnectionID) -> Bool { followers[connection] != nil }

    /// Whether any connection of a session follows.
    func isConnected(_ session: SessionID) -> Bool { connectionsOfSession[session] != nil }

    /// Every session with at least one connection that follows.
    var sessions: [SessionID] { Array(connectionsOfSession.keys) }

    /// Every feed with at least one follower.
    var feeds: some Sequence<any RoomFeed> { feedsByIdentity.values.lazy.map(\.feed) }

    /// Adds a connection; does nothing if it follows already.
    mutating func add(_ connection: ConnectionID, session: SessionID, feed: any RoomFeed) {
        guard followers[connection] == nil else { return }
        let identity = ObjectIdentifier(feed)
        followers[connection] = Follower(session: session, feed: identity)
        feedsByIdentity[identity, default: (feed, 0)].connections += 1
        connectionsOfSession[session, default: 0] += 1
    }

    /// Removes a connection and returns its session; nil if the connection does not follow.
    mutating func remove(_ connection: ConnectionID) -> SessionID? {
        guard let follower = followers.removeValue(forKey: connection) else { return nil }
        release(follower.feed)
        let left = (connectionsOfSession[follower.session] ?? 1) - 1
        connectionsOfSession[follower.session] = left == 0 ? nil : left
        return follower.session
    }

    /// Removes all connections of some sessions, and returns the feeds that had any, by session.
    ///
    /// Visits each follower once, however many sessions there are.
    mutating func remove(_ sessions: Set<SessionID>) -> [SessionID: [any RoomFeed]] {
        let gone = sessions.filter { connectionsOfSession.removeValue(forKey: $0) != nil }
        guard !gone.isEmpty else { return [:] }
        var told: [SessionID: [ObjectIdentifier: any RoomFeed]] = [:]
        for (connection, follower) in followers where gone.contains(follower.session) {
            followers[connection] = nil
            told[follower.session, default: [:]][follower.feed] = feedsByIdentity[follower.feed]?.feed
            release(follower.feed)
        }
        return told.mapValues { Array($0.values) }
    }

    private mutating func release(_ identity: ObjectIdentifier) {
        guard let held = feedsByIdentity[identity] else { return }
        feedsByIdentity[identity] = held.connections == 1 ? nil : (held.feed, held.connections - 1)
    }
}
