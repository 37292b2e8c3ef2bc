import RoomDomain
import RoomService
import RoomWire

/// The rooms that one socket follows, and what it has asked of them.
///
/// What a follower has been given is kept by the room's followers (``RoomFollowers``), where a delivery reads it; this
/// knows the socket's places there. The type is generic as ``RoomFollowers`` is.
///
/// Invariants:
/// 1. A socket has one place among the followers of a room, and at most ``limit`` rooms.
/// 2. Events that were left out are requested for one room at a time, and only while no output waits.
/// 3. Each answer is taken or late: a late one changes nothing.
/// 4. A room that has ended for the socket gives it nothing.
struct Subscriptions<Connection: RoomFollower> {
    /// A room that the socket follows.
    private struct Followed {
        let followers: RoomFollowers<Connection>
        var place: Int
    }

    /// What the refusal of a request means for the socket.
    enum Refusal: Equatable {
        /// The client has unsubscribed since: nothing is told.
        case late
        /// The client is told; the next event asks again.
        case ofCatchUp
        /// The client is told, and its next messages are handled.
        case ofRequest
        /// The client is told, and the socket, which was opened for the room, closes.
        case ofEntry
    }

    /// The most rooms that one socket may follow.
    static var limit: Int { 256 }

    /// The room of a socket that was opened for one room; nil for others.
    let ownRoom: RoomID?
    /// The position with which that room is resumed; nil for a snapshot.
    private let ownPosition: Position?
    /// Whether that room has not answered.
    private(set) var isEntering = false
    private var followed: [Followed] = []
    /// The room from which left-out events were requested, and that has not answered.
    private(set) var catchingUp: RoomID?
    /// Whether output waits that must be sent before a delta, as the rooms know it.
    private(set) var isWaiting = true

    /// The subscriptions of a new socket, which may be opened for a room, from a position in it.
    init(ownRoom: RoomID? = nil, from position: Position? = nil) {
        self.ownRoom = ownRoom
        ownPosition = position
    }

    // MARK: Rooms

    /// The number of followed rooms.
    var count: Int { followed.count }

    /// The followed rooms.
    var rooms: [RoomID] { followed.map(\.followers.room) }

    /// The followed rooms, each with the last event that the socket was given.
    var positions: [(room: RoomID, seq: Int)] {
        followed.map { (room: $0.followers.room, seq: $0.followers[$0.place].position) }
    }

    /// Whether a room is followed.
    func follows(_ room: RoomID) -> Bool { index(of: room) != nil }

    private func index(of room: RoomID) -> Int? { followed.firstIndex { $0.followers.room == room } }

    /// The socket's place among a room's followers has changed.
    mutating func moved(to place: Int, in room: RoomID) {
        if let index = index(of: room) { followed[index].place = place }
    }

    /// Ends a subscription; returns the followers that the socket has left, nil if it did not follow.
    mutating func end(_ room: RoomID) -> RoomFollowers<Connection>? {
        guard let index = index(of: room) else { return nil }
        let ended = followed.remove(at: index)
        ended.followers.remove(ended.place)
        return ended.followers
    }

    // MARK: Requests of the client

    /// The socket asks for the room that it was opened for; nil if it was opened for none.
    mutating func enter() -> (room: RoomID, position: Position?)? {
        isEntering = ownRoom != nil
        return ownRoom.map { ($0, ownPosition) }
    }

    /// Whether the client may ask for a room: the socket follows it, or does not follow too many.
    func mayBegin(_ room: RoomID) -> Bool { followed.count < Self.limit || follows(room) }

    /// The client asks for a room, which gives the socket nothing until the answer arrives.
    func begin(_ room: RoomID) {
        if let index = index(of: room) { followed[index].followers[followed[index].place].askedAgain() }
    }

    /// A room answers; returns whether the answer is taken, and false if it is late.
    ///
    /// `followers` gives the room's followers, which the socket joins if it does not follow yet.
    mutating func accept(
        _ answer: Subscription, for connection: Connection, joining followers: () -> RoomFollowers<Connection>
    ) -> Bool {
        let place: Int
        let joined: RoomFollowers<Connection>
        if let index = index(of: answer.room) {
            (joined, place) = (followed[index].followers, followed[index].place)
            guard joined[place].accepts(answer) else { return false }
        } else {
            guard !answer.isCatchUp else { return false }
            joined = followers()
            place = joined.add(connection, seq: answer.seq, isWaiting: isWaiting)
            followed.append(Followed(followers: joined, place: place))
        }
        isEntering = false
        joined[place].answered(through: answer.seq, isWhole: answer.isWhole)
        return true
    }

    /// A room refuses a request.
    mutating func refused(_ wish: SubscriptionWish) -> Refusal {
        if wish.isCatchUp {
            guard let catchingUp, lacksEvents(of: catchingUp) else { return .late }
            self.catchingUp = nil
            return .ofCatchUp
        }
        // Only one request of the client is under way.
        for room in followed { room.followers[room.place].refused() }
        return isEntering ? .ofEntry : .ofRequest
    }

    private func lacksEvents(of room: RoomID) -> Bool {
        index(of: room).map { !followed[$0].followers[followed[$0].place].isWhole } ?? false
    }

    // MARK: Events that were left out

    /// Records whether output waits, and tells the rooms if that has changed.
    mutating func setWaiting(_ isWaiting: Bool) {
        guard isWaiting != self.isWaiting else { return }
        self.isWaiting = isWaiting
        for room in followed { room.followers.setWaiting(isWaiting, at: room.place) }
    }

    /// Events of a room from `seq` on are not sent.
    func leaveOut(from seq: Int, of room: RoomID) {
        guard let index = index(of: room) else { return }
        followed[index].followers[followed[index].place].leaveOut(from: seq)
    }

    /// The next request for events that were left out; nil if there is none, one is under way, or output waits.
    mutating func next() -> (room: RoomID, wish: SubscriptionWish)? {
        guard catchingUp == nil, !isWaiting else { return nil }
        for room in followed {
            guard let wish = room.followers[room.place].wish else { continue }
            catchingUp = room.followers.room
            return (room.followers.room, wish)
        }
        return nil
    }

    /// The request for events that were left out has been answered.
    mutating func caughtUp() { catchingUp = nil }
}
