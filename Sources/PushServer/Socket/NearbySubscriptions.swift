import RoomService

/// The nearby subscriptions of one socket, by the numbers of the messages that began them.
struct NearbySubscriptions {
    private var watches: [Int64: NearbyRooms.WatchID] = [:]
    /// The socket as the nearby rooms know it; nil before the first subscription.
    private var client: NearbyClient?
    /// The subscriptions that get no more changes until the peer takes its answers again.
    private var behind: [NearbyRooms.WatchID] = []

    /// The number of subscriptions.
    var count: Int { watches.count }

    /// The socket as the nearby rooms know it, to which at most `limit` bytes are on their way.
    mutating func client(limit: Int) -> NearbyClient {
        if let client { return client }
        let made = NearbyClient(limit: limit)
        client = made
        return made
    }

    /// A subscription begins; its first list is on its way.
    mutating func begin(_ sub: Int64, _ watch: NearbyRooms.WatchID) {
        watches[sub] = watch
        behind.append(watch)
    }

    /// Whether the subscription with this number is still this one.
    func isCurrent(_ watch: NearbyRooms.WatchID, _ sub: Int64) -> Bool { watches[sub] == watch }

    /// A change of a subscription is on its way.
    mutating func sent(_ watch: NearbyRooms.WatchID) { behind.append(watch) }

    /// Takes the subscriptions whose last message was taken by the peer.
    mutating func takeBehind() -> [NearbyRooms.WatchID] {
        defer { behind.removeAll() }
        return behind
    }

    /// Whether a subscription gets no more changes until the peer takes its answers.
    var isBehind: Bool { !behind.isEmpty }

    /// Ends the subscription with this number, and returns it; nil if there is none.
    mutating func end(_ sub: Int64) -> NearbyRooms.WatchID? { watches.removeValue(forKey: sub) }

    /// Ends all subscriptions, and returns them.
    mutating func endAll() -> [NearbyRooms.WatchID] {
        defer { watches = [:] }
        return Array(watches.values)
    }
}
