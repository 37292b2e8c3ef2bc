/// A receiver of the news of rooms, one for each event loop that has subscribers.
package protocol RoomFeed: AnyObject, Sendable {
    /// Takes a piece of news.
    ///
    /// Called on the room's event loop, in the order of what happened there. An implementation hops to its own loop in a
    /// way that keeps this order.
    func tell(_ news: RoomNews)
}
