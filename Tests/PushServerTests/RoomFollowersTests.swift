import FoundationEssentials
import NIOCore
import RoomDomain
import TLSTransport
import Testing

@testable import PushServer
@testable import RoomService

@Suite struct `Followers of a room` {
    /// A connection without TLS, which keeps what it is to send.
    private final class Connection: RoomFollower {
        let id: ConnectionID
        let tls: TLSHandler? = nil
        let compression = SocketCompression(parameters: nil)
        private(set) var place: Int?
        private(set) var received: [String] = []
        /// Called once, by the next message.
        var next: (() -> Void)?

        init(_ number: Int) { id = ConnectionID(rawValue: number) }

        func follow(_ followers: RoomFollowers<Connection>) { place = followers.add(self, seq: 0, isWaiting: false) }

        func leave(_ followers: RoomFollowers<Connection>) {
            guard let place else { return }
            self.place = nil
            followers.remove(place)
        }

        func moved(to place: Int, in room: RoomID) {
            if self.place != nil { self.place = place }
        }

        func stalled() {}

        func leftOut(_ deltas: Int) { received.append("left out \(deltas)") }

        func queue(_ frame: ByteBuffer, _ kind: Outbox.Kind, of room: RoomID, from seq: Int) {
            // A frame of a short text message has two bytes before it.
            received.append(String(decoding: frame.readableBytesView.dropFirst(2), as: UTF8.self))
            let next = next
            self.next = nil
            next?()
        }
    }

    private let room = RoomID(UUID())
    private let framing = FrameMaker()

    private func make(_ count: Int) -> (RoomFollowers<Connection>, [Connection]) {
        let followers = RoomFollowers<Connection>(of: room)
        let connections = (0..<count).map { Connection($0) }
        for connection in connections { connection.follow(followers) }
        return (followers, connections)
    }

    private func change(_ text: String) -> DeckChange { DeckChange(room: room, message: Array(text.utf8)) }

    @Test(arguments: 0..<4)
    func `a connection that ends while something is sent to it takes nothing from the others`(leaving: Int) {
        let (followers, connections) = make(4)
        // It was the deck: the others are told within the delivery.
        connections[leaving].next = {
            connections[leaving].leave(followers)
            followers.show(change("no deck"), framing: framing)
        }
        #expect(followers.gather(PublishedEvents(room: room, from: 1, seq: 1, message: Array("one".utf8))))
        _ = followers.deliver(framing: framing)
        #expect(followers.gather(PublishedEvents(room: room, from: 2, seq: 2, message: Array("two".utf8))))
        _ = followers.deliver(framing: framing)
        for (index, connection) in connections.enumerated() where index != leaving {
            #expect(connection.received.filter { $0 != "no deck" } == ["one", "two"], "\(index)")
            #expect(connection.received.count { $0 == "no deck" } == 1, "\(index)")
        }
        #expect(connections[leaving].received == ["one"])
        #expect(Set(connections.compactMap(\.place)) == [0, 1, 2])
        #expect(followers.connections.count == 3)
    }

    @Test func `all may end while the deck is shown`() {
        let (followers, connections) = make(3)
        for connection in connections { connection.next = { connection.leave(followers) } }
        followers.show(change("a deck"), framing: framing)
        #expect(followers.isEmpty)
        #expect(connections.map(\.received) == [["a deck"], ["a deck"], ["a deck"]])
    }
}
