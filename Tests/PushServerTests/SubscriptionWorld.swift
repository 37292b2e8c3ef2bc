import FoundationEssentials
import NIOCore
import RoomDomain
import TLSTransport

@testable import PushServer
@testable import RoomService

/// A client that follows rooms on one socket: real ``Subscriptions`` and ``RoomFollowers``, with rooms that answer as they
/// promise to, and a client that checks what it is sent.
///
/// Rooms and the socket pass each other messages in order, which arrive when the test says so. A room may take any time
/// to make an answer, which then has the room's newest event.
final class SubscriptionWorld {
    /// Something that happens only if the plan has it, once for each time that it is there.
    enum Planned: Hashable {
        /// A room has an event.
        case event(Int)
        /// The log of a room is replaced by a shorter one.
        case replaceLog(Int)
        /// The client asks for a room.
        case subscribe(Int)
        case unsubscribe(Int)
    }

    enum Act: Hashable, CustomStringConvertible {
        case plan(Planned)
        /// A room answers a request: with what the client lacks, with a part of it, or with a refusal.
        case answer(Int, Answer)
        /// The next message of the rooms arrives at the socket.
        case arrive
        /// The client takes all output.
        case flush

        var description: String {
            switch self {
            case .plan(let act): "\(act)".replacing("PushServerTests.SubscriptionWorld.Planned.", with: "")
            case .answer(let index, .whole): "answer \(index)"
            case .answer(let index, .part): "part \(index)"
            case .answer(let index, .refusal): "refuse \(index)"
            case .arrive: "arrive"
            case .flush: "flush"
            }
        }
    }

    enum Answer { case whole, part, refusal }

    struct Violation: Error, CustomStringConvertible { var description: String }

    /// A message to the client.
    private struct Item {
        enum Kind { case snapshot, delta, resumed, rest, unsubscribed, refused }
        var kind: Kind
        var room: Int
        var epoch = 0
        var from = 0
        var seq = 0
    }

    /// What the client has of a room that it follows.
    private struct View: Equatable {
        var epoch: Int
        var seq: Int
    }

    private struct Room {
        var id: RoomID
        var epoch = 0
        var head = 0
        var isFollowed = false
    }

    private struct Request {
        var room: Int
        /// Where the room was when it was asked.
        var asked: View
        var request: SubscriptionRequest
        /// The position of the client, if it gave one.
        var position: View?
    }

    private enum News {
        case moved(room: Int, epoch: Int, seq: Int)
        case began(room: Int)
        case answered(Subscription, room: Int, items: [Item])
        case refused(SubscriptionRequest, room: Int)
    }

    /// The socket, as little of it as the subscriptions need.
    final class Socket: RoomFollower {
        let id = ConnectionID(rawValue: 1)
        let tls: TLSHandler? = nil
        let compression = SocketCompression(parameters: nil)
        var subscriptions = Subscriptions<Socket>()
        unowned var world: SubscriptionWorld

        init(_ world: SubscriptionWorld) { self.world = world }

        func moved(to place: Int, in room: RoomID) { subscriptions.moved(to: place, in: room) }
        func stalled() {}
        func leftOut(_ deltas: Int) { world.catchUp() }
        func queue(_ frame: ByteBuffer, _ kind: Outbox.Kind, of room: RoomID, from seq: Int) {
            world.queue(of: room, from: seq)
        }
    }

    private final class Feed: RoomFeed {
        func tell(_ news: RoomNews) {}
    }

    private let framing: FrameMaker
    private static let feed = Feed()
    private static let ids = (0..<2).map { _ in RoomID(UUID()) }

    private(set) var planned: [Planned: Int] = [:]
    private var rooms: [Room]
    private var followers: [RoomFollowers<Socket>?]
    private var requests: [Request] = []
    private var news: [News] = []
    private var outbox: [Item] = []
    /// Whether the socket has output, or had some that was dropped.
    private var isFlushDue = false
    private var views: [View?]
    /// The number of requests of the client that were not answered: the next one waits for the answer.
    private var unanswered = 0
    private var violation: Violation?
    /// Partial answers and refusals that may still be given.
    private var faults = 2
    private lazy var socket = Socket(self)

    init(_ plan: [Planned], rooms: Int = 1, framing: FrameMaker) {
        self.framing = framing
        for act in plan { planned[act, default: 0] += 1 }
        self.rooms = (0..<rooms).map { Room(id: Self.ids[$0], head: 1) }
        followers = Array(repeating: nil, count: rooms)
        views = Array(repeating: nil, count: rooms)
    }

    /// What can happen next.
    var acts: [Act] {
        var acts: [Act] = []
        for act in planned.keys.sorted(by: { "\($0)" < "\($1)" }) {
            switch act {
            case .event, .replaceLog: acts.append(.plan(act))
            case .subscribe, .unsubscribe: if unanswered == 0 { acts.append(.plan(act)) }
            }
        }
        for index in requests.indices {
            acts.append(.answer(index, .whole))
            guard faults > 0 else { continue }
            acts.append(.answer(index, .refusal))
            if case .collapse = requests[index].request.wish { continue }
            acts.append(.answer(index, .part))
        }
        if !news.isEmpty { acts.append(.arrive) }
        if isFlushDue { acts.append(.flush) }
        return acts
    }

    /// A text that is equal for two worlds only if the same things can happen in them.
    var digest: String {
        var text = "\(planned.map { "\($0)\($1)" }.sorted())\(faults)\(unanswered)\(socket.subscriptions.isWaiting)"
        text += "\(socket.subscriptions.catchingUp.map { number(of: $0) } ?? 9)"
        for room in rooms.indices {
            text += "/\(rooms[room].epoch),\(rooms[room].head),\(rooms[room].isFollowed),"
            text += "\(views[room].map { "\($0.epoch).\($0.seq)" } ?? "-"),"
            let progress = socket.subscriptions.follows(rooms[room].id) ? followers[room]?[0] : nil
            text += progress.map { "\($0)" } ?? "-"
        }
        text += isFlushDue ? "f" : ""
        for request in requests {
            text += "?\(request.room)\(request.request.wish)\(request.position?.seq ?? 0).\(request.asked)"
        }
        for item in news {
            switch item {
            case .moved(let room, let epoch, let seq): text += "m\(room).\(epoch).\(seq)"
            case .began(let room): text += "b\(room)"
            case .refused(let request, let room): text += "r\(room).\(request.wish)"
            case .answered(let answer, let room, let items):
                text += "a\(room).\(answer.seq).\(answer.isWhole).\(answer.leftOutFrom ?? 0).\(answer.isCatchUp)"
                text += ".\(items.first?.epoch ?? 9).\(items.count)"
            }
        }
        for item in outbox { text += "o\(item.kind)\(item.room).\(item.epoch).\(item.from).\(item.seq)" }
        return text
    }

    // MARK: What happens

    func perform(_ act: Act) throws {
        switch act {
        case .plan(let act):
            planned[act] = planned[act] == 1 ? nil : (planned[act] ?? 0) - 1
            perform(act)
        case .answer(let index, let answer): give(answer, to: requests.remove(at: index))
        case .arrive: arrive(news.removeFirst())
        case .flush: flush()
        }
        if let violation { throw violation }
    }

    private func perform(_ act: Planned) {
        switch act {
        case .event(let room):
            rooms[room].head += 1
            guard rooms[room].isFollowed else { return }
            news.append(.moved(room: room, epoch: rooms[room].epoch, seq: rooms[room].head))
        case .replaceLog(let room):
            rooms[room].epoch += 1
            rooms[room].head = 1
            if rooms[room].isFollowed { news.append(.began(room: room)) }
        case .subscribe(let room):
            unanswered += 1
            let position = views[room]
            socket.subscriptions.begin(rooms[room].id)
            ask(room, .begin(id: 1, from: nil), from: position)
        case .unsubscribe(let room):
            if let left = socket.subscriptions.end(rooms[room].id) {
                if left.isEmpty { followers[room] = nil }
                drop(room)
                rooms[room].isFollowed = false
            }
            send([Item(kind: .unsubscribed, room: room)])
        }
    }

    // MARK: Rooms

    private func ask(_ room: Int, _ wish: SubscriptionWish, from position: View? = nil) {
        let request = SubscriptionRequest(
            connection: socket.id, asker: Asker(SessionID(UUID()), from: nil), wish, feed: Self.feed)
        let asked = View(epoch: rooms[room].epoch, seq: rooms[room].head)
        requests.append(Request(room: room, asked: asked, request: request, position: position))
    }

    private func give(_ answer: Answer, to request: Request) {
        let room = rooms[request.room]
        if case .refusal = answer {
            faults -= 1
            return news.append(.refused(request.request, room: request.room))
        }
        if answer == .part { faults -= 1 }
        var items: [Item] = []
        var isSnapshot = true
        // A state is never older than the request.
        let oldest = request.asked.epoch == room.epoch ? request.asked.seq : room.head
        var seq = answer == .part ? max(room.head - 1, oldest) : room.head
        // A rest and a resumption begin with the first event that is lacked, if it is one of this log.
        let lacks: Int? =
            switch request.request.wish {
            case .begin: request.position.flatMap { $0.epoch == room.epoch && $0.seq <= room.head ? $0.seq + 1 : nil }
            case .rest(let from): from <= room.head + 1 ? from : nil
            case .collapse, .anew: nil
            }
        if let lacks {
            isSnapshot = false
            seq = answer == .part ? max(room.head - 1, lacks - 1) : room.head
            if !request.request.wish.isCatchUp {
                items.append(Item(kind: .resumed, room: request.room, epoch: room.epoch, seq: lacks - 1))
            }
            if lacks <= seq {
                items.append(Item(kind: .rest, room: request.room, epoch: room.epoch, from: lacks, seq: seq))
            }
        } else {
            items.append(Item(kind: .snapshot, room: request.room, epoch: room.epoch, seq: seq))
        }
        // A room that the socket has left answers what was asked before, and sends nothing more.
        if !request.request.wish.isCatchUp { rooms[request.room].isFollowed = true }
        let subscription = Subscription(
            connection: socket.id, room: room.id, seq: seq, isWhole: seq == room.head,
            isCatchUp: request.request.wish.isCatchUp, leftOutFrom: request.request.wish.leftOutFrom,
            isSnapshot: isSnapshot, messages: [])
        news.append(.answered(subscription, room: request.room, items: items))
    }

    // MARK: The socket

    private func number(of room: RoomID) -> Int { rooms.firstIndex { $0.id == room } ?? -1 }

    private func arrive(_ item: News) {
        switch item {
        case .moved(let room, let epoch, let seq):
            guard let followers = followers[room] else { return }
            delivered = (room, epoch, seq)
            _ = followers.gather(PublishedEvents(room: rooms[room].id, from: seq, seq: seq, message: [0x78]))
            _ = followers.deliver(framing: framing)
        case .began(let room):
            guard let followers = followers[room] else { return }
            followers.beginAnew()
            drop(room)
            catchUp()
        case .answered(let subscription, let room, let items):
            let isTaken = socket.subscriptions.accept(subscription, for: socket) {
                let joined = followers[room] ?? RoomFollowers(of: rooms[room].id)
                followers[room] = joined
                return joined
            }
            guard isTaken else { return caughtUp() }
            drop(room)
            send(items)
            if subscription.isCatchUp { caughtUp() } else { unanswered -= 1 }
        case .refused(let request, let room):
            switch socket.subscriptions.refused(request.wish) {
            case .late: caughtUp()
            case .ofCatchUp: send([Item(kind: .refused, room: room)])
            case .ofRequest, .ofEntry:
                send([Item(kind: .refused, room: room)])
                unanswered -= 1
            }
        }
    }

    /// The event that is being delivered.
    private var delivered = (room: 0, epoch: 0, seq: 0)

    /// A delta for the client: the second one that waits displaces the first.
    fileprivate func queue(of room: RoomID, from seq: Int) {
        let number = number(of: room)
        isFlushDue = true
        guard outbox.contains(where: { $0.kind == .delta }) else {
            return send([
                Item(kind: .delta, room: number, epoch: delivered.epoch, from: seq, seq: delivered.seq)
            ])
        }
        socket.subscriptions.leaveOut(from: seq, of: room)
        for item in outbox where item.kind == .delta {
            socket.subscriptions.leaveOut(from: item.from, of: rooms[item.room].id)
        }
        outbox.removeAll { $0.kind == .delta }
    }

    private func drop(_ room: Int) { outbox.removeAll { $0.kind == .delta && $0.room == room } }

    private func send(_ items: [Item]) {
        outbox += items
        isFlushDue = true
        socket.subscriptions.setWaiting(true)
    }

    fileprivate func catchUp() {
        guard let (room, wish) = socket.subscriptions.next() else { return }
        if isFlushDue { fail("left-out events are requested while output waits (invariant 2)") }
        if isCatchUpUnderWay { fail("left-out events of two rooms are requested at once (invariant 2)") }
        ask(number(of: room), wish)
    }

    /// Whether a request for left-out events has no answer that has arrived.
    private var isCatchUpUnderWay: Bool {
        requests.contains { $0.request.wish.isCatchUp }
            || news.contains {
                switch $0 {
                case .answered(let answer, _, _): answer.isCatchUp
                case .refused(let request, _): request.wish.isCatchUp
                case .moved, .began: false
                }
            }
    }

    private func caughtUp() {
        socket.subscriptions.caughtUp()
        catchUp()
    }

    private func flush() {
        let items = outbox
        outbox = []
        isFlushDue = false
        for item in items { receive(item) }
        socket.subscriptions.setWaiting(false)
        catchUp()
    }

    // MARK: The client

    private func receive(_ item: Item) {
        let view = views[item.room]
        switch item.kind {
        case .unsubscribed: views[item.room] = nil
        case .refused: break
        case .snapshot:
            if let view, view.epoch == item.epoch, item.seq < view.seq {
                return fail("a snapshot goes back from \(view.seq) to \(item.seq)")
            }
            if let view, item.epoch < view.epoch { return fail("a snapshot of an earlier log") }
            views[item.room] = View(epoch: item.epoch, seq: item.seq)
        case .resumed: views[item.room] = View(epoch: item.epoch, seq: item.seq)
        case .delta, .rest:
            guard let view else { return fail("a delta of a room that is not followed") }
            guard view.epoch == item.epoch else { return fail("a delta of another log") }
            guard item.from == view.seq + 1 else { return fail("event \(item.from) after \(view.seq)") }
            views[item.room]?.seq = item.seq
        }
    }

    private func fail(_ text: String) { violation = violation ?? Violation(description: text) }

    /// Checks the end, when nothing more can happen.
    func checkEnd() throws {
        if unanswered != 0 { throw Violation(description: "\(unanswered) requests have no answer") }
        for room in rooms.indices {
            guard let view = views[room] else { continue }
            guard view == View(epoch: rooms[room].epoch, seq: rooms[room].head) else {
                throw Violation(description: "the client ends with \(view), and the room with \(rooms[room])")
            }
        }
    }
}
