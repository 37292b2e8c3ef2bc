import RoomService

/// The place of a watch among those of its address.
typealias WatchPlace = OpenCount<UInt64>.Ticket

/// What a socket watches, by kind.
struct SocketWatches {
    /// Rooms near points.
    var nearby = Watches()
    /// Rooms' counts.
    var counts = Watches()
    /// What is played across rooms.
    var trends = Watches()

    /// The number of watches of statistics.
    var ofStatistics: Int { counts.count + trends.count }

    /// Whether a watch gets no more changes until the peer takes its answers.
    var areBehind: Bool { nearby.isBehind || counts.isBehind || trends.isBehind }

    /// The peer has taken all messages.
    mutating func taken() {
        nearby.taken()
        counts.taken()
        trends.taken()
    }
}

/// The watches of one kind that a socket has, by the numbers of the messages that began them.
struct Watches {
    private var watches: [Int64: (id: WatchID, place: WatchPlace?)] = [:]
    /// The socket as the watched know it; nil before the first watch.
    private var client: WatchClient?
    /// The watches that get no more changes until the peer takes its answers again.
    private var behind: [WatchID] = []

    /// The number of watches.
    var count: Int { watches.count }

    /// The socket as the watched know it, to which at most `limit` bytes are on their way.
    mutating func client(limit: Int) -> WatchClient {
        if let client { return client }
        let made = WatchClient(limit: limit)
        client = made
        return made
    }

    /// A watch begins, which keeps its place among those of its address; its first message is on its way.
    mutating func begin(_ sub: Int64, _ watch: WatchID, _ place: WatchPlace? = nil) {
        watches[sub] = (watch, place)
        behind.append(watch)
    }

    /// Whether the watch with this number is still this one.
    func isCurrent(_ watch: WatchID, _ sub: Int64) -> Bool { watches[sub]?.id == watch }

    /// A change is on its way.
    mutating func sent(_ watch: WatchID) { behind.append(watch) }

    /// The peer has taken all messages.
    mutating func taken() {
        for watch in behind { watch.taken() }
        behind.removeAll()
    }

    /// Whether a watch gets no more changes until the peer takes its answers.
    var isBehind: Bool { !behind.isEmpty }

    /// Ends the watch with this number, and returns it; nil if there is none.
    mutating func end(_ sub: Int64) -> WatchID? { watches.removeValue(forKey: sub)?.id }

    /// Ends all watches, and returns them.
    mutating func endAll() -> [WatchID] {
        defer { watches = [:] }
        return watches.values.map(\.id)
    }
}
