package import RoomDomain
package import RoomWire

/// The circles that are watched: each is asked for anew on every connection.
package struct NearbyWatches: Sendable, Equatable {
    package enum Step: Equatable, Sendable {
        /// Ask for a circle, under an `id` of its own each time.
        case ask(watch: Int, NearbyQuery)
        /// The rooms of a circle, nearest first.
        case changed(watch: Int, [RoomSummary])
        /// The server does not watch the circle.
        case ended(watch: Int, ErrorName)
    }

    private static let askAgainMs: Int64 = 1_000

    private struct Watch: Sendable, Equatable {
        var number: Int
        var query: NearbyQuery
        /// The `id` of the question on this connection, which names the subscription.
        var sub: Int64?
        var again: ClientInstant?
        var rooms: [RoomSummary] = []
    }

    private var watches: [Watch] = []

    package init() {}

    /// The next moment at which a circle has to be asked for again; nil if there is none.
    package var due: ClientInstant? { watches.lazy.compactMap(\.again).min() }

    /// Watches a circle; a watch of this number ends.
    package mutating func add(_ number: Int, _ query: NearbyQuery) -> [Step] {
        watches.removeAll { $0.number == number }
        watches.append(Watch(number: number, query: query))
        return [.ask(watch: number, query)]
    }

    /// Ends a watch; returns the subscription that the server has of it.
    package mutating func remove(_ number: Int) -> Int64? {
        guard let index = watches.firstIndex(where: { $0.number == number }) else { return nil }
        return watches.remove(at: index).sub
    }

    /// A connection is open.
    package func connected() -> [Step] { watches.map { .ask(watch: $0.number, $0.query) } }

    /// The connection is lost: the subscriptions have ended with it.
    package mutating func disconnected() {
        for index in watches.indices { (watches[index].sub, watches[index].again) = (nil, nil) }
    }

    /// The question for a circle was sent under this `id`.
    package mutating func asked(_ number: Int, id: Int64) {
        guard let index = watches.firstIndex(where: { $0.number == number }) else { return }
        (watches[index].sub, watches[index].again) = (id, nil)
    }

    /// Asks again, where it is time.
    package func tick(at now: ClientInstant) -> [Step] {
        watches.compactMap { watch in
            watch.again.map { $0 <= now } == true ? .ask(watch: watch.number, watch.query) : nil
        }
    }

    /// The answer: the rooms, nearest first.
    package mutating func take(_ re: Int64, rooms: [RoomSummary]) -> [Step] {
        guard let index = watches.firstIndex(where: { $0.sub == re }) else { return [] }
        let rooms = Array(rooms.prefix(watches[index].query.limit))
        watches[index].rooms = rooms
        return [.changed(watch: watches[index].number, rooms)]
    }

    /// Changes since the list that the client has: those who left, then those who changed, then those who entered.
    package mutating func take(
        sub: Int64, entered: [RoomSummary], changed: [RoomSummary], left: [RoomID]
    ) -> [Step] {
        guard let index = watches.firstIndex(where: { $0.sub == sub }) else { return [] }
        let gone = Set(left)
        var others: [RoomID: RoomSummary] = [:]
        for room in changed { others[room.id] = room }
        var new: [RoomID: RoomSummary] = [:]
        for room in entered { new[room.id] = room }
        var rooms = watches[index].rooms.filter { !gone.contains($0.id) && new[$0.id] == nil }
            .map { others[$0.id] ?? $0 }
        rooms += new.values
        rooms.sort { Self.rank($0) < Self.rank($1) }
        // No server names more, and what one sends must not add up.
        rooms.removeLast(max(0, rooms.count - watches[index].query.limit))
        watches[index].rooms = rooms
        return [.changed(watch: watches[index].number, rooms)]
    }

    /// The question was refused; nil if `re` is no circle's.
    package mutating func refused(
        _ re: Int64, _ code: ErrorName, retryAfterMs: Int?, at now: ClientMoment
    ) -> [Step]? {
        guard let index = watches.firstIndex(where: { $0.sub == re }) else { return nil }
        watches[index].sub = nil
        switch code.code {
        case .rateLimited, .unavailable, .outcomeUnknown, .internal:
            watches[index].again = now.afterWait(ofMs: retryAfterMs, usualMs: Self.askAgainMs)
            return []
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .unauthorized, .forbidden, .banned,
            .notFound, .notMember, .conflict, .roomClosed, .tooLarge, .limitReached, nil:
            return [.ended(watch: watches.remove(at: index).number, code)]
        }
    }

    private static func rank(_ room: RoomSummary) -> (Double, String) {
        (room.distanceMeters ?? .infinity, room.id.description)
    }
}
