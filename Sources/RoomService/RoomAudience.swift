import RoomDomain

/// Who follows one room: connections by feed, and which members are online by them.
struct RoomAudience {
    private struct Follower {
        var session: SessionID
        var feed: ObjectIdentifier
    }

    private var followers: [ConnectionID: Follower] = [:]
    private var feedsByIdentity: [ObjectIdentifier: (feed: any RoomFeed, connections: Int)] = [:]
    private var connectionsOfSession: [SessionID: Int] = [:]
    /// How many members have a connection that follows.
    private(set) var online = 0

    var isEmpty: Bool { followers.isEmpty }

    /// Whether a connection follows.
    func follows(_ connection: ConnectionID) -> Bool { followers[connection] != nil }

    /// Every session that has at least one connection that follows.
    var sessions: [SessionID] { Array(connectionsOfSession.keys) }

    /// Counts the members anew, where the room is another one than it was.
    mutating func recount(in state: RoomState) {
        online = connectionsOfSession.keys.count { state.memberOfSession[$0] != nil }
    }

    /// Every feed that has at least one follower.
    var feeds: some Sequence<any RoomFeed> { feedsByIdentity.values.lazy.map(\.feed) }

    /// Adds a connection; nothing changes where it follows already.
    mutating func add(_ connection: ConnectionID, session: SessionID, feed: any RoomFeed, in state: RoomState) {
        guard followers[connection] == nil else { return }
        let identity = ObjectIdentifier(feed)
        followers[connection] = Follower(session: session, feed: identity)
        feedsByIdentity[identity, default: (feed, 0)].connections += 1
        connectionsOfSession[session, default: 0] += 1
        if connectionsOfSession[session] == 1, state.memberOfSession[session] != nil { online += 1 }
    }

    /// Removes a connection; nothing changes where it does not follow.
    mutating func remove(_ connection: ConnectionID, in state: RoomState) {
        guard let follower = followers.removeValue(forKey: connection) else { return }
        release(follower.feed)
        let left = (connectionsOfSession[follower.session] ?? 1) - 1
        connectionsOfSession[follower.session] = left == 0 ? nil : left
        if left == 0, state.memberOfSession[follower.session] != nil { online -= 1 }
    }

    /// Removes all connections of a session that is not a member, and returns the feeds that had some.
    mutating func remove(session: SessionID) -> [any RoomFeed] {
        guard connectionsOfSession.removeValue(forKey: session) != nil else { return [] }
        var told: [ObjectIdentifier: any RoomFeed] = [:]
        for (connection, follower) in followers where follower.session == session {
            followers[connection] = nil
            told[follower.feed] = feedsByIdentity[follower.feed]?.feed
            release(follower.feed)
        }
        return Array(told.values)
    }

    /// Keeps `online` right when an event makes or ends a membership; `state` is the room before the event.
    mutating func willFold(_ recorded: RecordedEvent, into state: RoomState) {
        switch recorded.event.membershipChange {
        case .began(let session):
            if connectionsOfSession[session] != nil { online += 1 }
        case .ended(let member):
            if let member = state.members[member], connectionsOfSession[member.session] != nil { online -= 1 }
        case nil:
            break
        }
    }

    /// The online members, ascending.
    func onlineMembers(in state: RoomState) -> [MemberID] {
        connectionsOfSession.keys.compactMap { state.memberOfSession[$0] }.sorted()
    }

    private mutating func release(_ identity: ObjectIdentifier) {
        guard let held = feedsByIdentity[identity] else { return }
        feedsByIdentity[identity] = held.connections == 1 ? nil : (held.feed, held.connections - 1)
    }
}
