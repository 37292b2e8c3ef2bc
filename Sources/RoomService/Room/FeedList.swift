/// Feeds that are told the same.
struct FeedList: Equatable {
    private let feeds: [any RoomFeed]

    init(_ feeds: some Sequence<any RoomFeed>) { self.feeds = Array(feeds) }

    var isEmpty: Bool { feeds.isEmpty }

    /// Tells each of them.
    func tell(_ news: RoomNews) {
        for feed in feeds { feed.tell(news) }
    }

    /// Compares the feeds themselves, in any order.
    static func == (one: FeedList, other: FeedList) -> Bool {
        Set(one.feeds.map(ObjectIdentifier.init)) == Set(other.feeds.map(ObjectIdentifier.init))
    }
}
