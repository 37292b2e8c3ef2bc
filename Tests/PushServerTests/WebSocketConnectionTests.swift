import NIOCore
import RoomDomain
import RoomService
import RoomWire
import Testing
import WebSocketCodec

@testable import PushServer

/// Sockets on an embedded channel, with the rooms of a real server: see ``SocketWorld``.
@Suite struct WebSocketConnectionTests {
    /// Follows a room as its client does, and complains of events that are lost or repeated.
    private struct Follower {
        var seq = 0
        var collapses = 0

        mutating func take(_ messages: [JSONValue]) {
            for message in messages {
                switch message.type {
                case "snapshot", "resumed":
                    if message["collapsed"] != nil { collapses += 1 }
                    let newest = Int(message["seq"]?.integer ?? 0)
                    #expect(newest >= seq, "a snapshot goes back")
                    seq = newest
                case "delta":
                    #expect(message["from"]?.integer == Int64(seq + 1))
                    seq = Int(message["seq"]?.integer ?? 0)
                default: break
                }
            }
        }
    }

    private func subscribe(_ room: RoomID, id: Int = 1) -> String {
        #"{"type":"subscribe","id":\#(id),"room":"\#(room)"}"#
    }

    private func command(_ body: String, in room: RoomID, id: Int = 2) -> String {
        #"{"type":"command","id":\#(id),"room":"\#(room)","command":\#(body)}"#
    }

    // MARK: Messages and their order

    @Test func `a socket is welcomed, and its messages are answered in order`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let socket = try world.open(ana)
        #expect(try socket.takeTypes() == ["welcome"])
        let messages = [
            subscribe(room), command(#"{"type":"rename","name":"Hall"}"#, in: room, id: 2),
            #"{"type":"unsubscribe","id":3,"room":"\#(room)"}"#, #"{"type":"time","id":4,"t1":1}"#,
        ]
        for message in messages { socket.send(message) }
        #expect(try socket.take().compactMap { $0["re"]?.integer } == [1, 2, 3, 4])
        // A command is answered once it is durable, and the messages behind it do not wait for that.
        socket.send(messages)
        let answers = try socket.take()
        #expect(answers.compactMap { $0["re"]?.integer } == [1, 3, 4, 2])
        #expect(socket.isOpen)
    }

    @Test func `a socket that was opened for a room follows it, and ends with the room`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let socket = try world.open(ana, room: room)
        #expect(try socket.takeTypes().prefix(2) == ["welcome", "snapshot"])
        world.onLoop { world.hub.roomForgotten(room) }
        #expect(try socket.takeTypes().last == "ended")
        #expect(socket.closeReason?.code.rawValue == 4404)
    }

    // MARK: Back-pressure

    @Test func `a peer that takes no answers is not read from, and loses none`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let socket = try world.open(ana)
        _ = try socket.take()
        socket.setValve(open: false)
        // Each answer has about 150 bytes.
        for id in 1...1_000 { socket.send(command(#"{"type":"vote","track":9}"#, in: room, id: id)) }
        #expect(socket.unread.readableBytes > 0, "reading stops")
        #expect(world.hub.currentTally().queuedBytes < 100_000)
        socket.setValve(open: true)
        var ids: [Int64] = []
        for _ in 0..<100 {
            ids += try socket.take().compactMap { $0["re"]?.integer }
            world.advance(by: .milliseconds(10))
        }
        #expect(ids == Array(1...1_000))
        #expect(socket.isOpen && socket.unread.readableBytes == 0)
    }

    @Test func `deltas that are not taken are dropped, and one snapshot replaces them`() throws {
        let world = SocketWorld { $0.sizes.maximumOutgoingBytes = 20_000 }
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let (slow, quick) = (try world.open(ana, room: room), try world.open(ana, room: room))
        var (slowView, quickView) = (Follower(), Follower())
        slowView.take(try slow.take())
        slow.setValve(open: false)
        for number in 1...400 {
            world.command(.rename(name: "Room number \(number)"), in: room, by: ana)
            world.advance(by: .milliseconds(1))
            quickView.take(try quick.take())
            #expect(slow.connection.waitingBytes < 70_000)
        }
        #expect(quickView.seq > 400 && quickView.collapses == 0)
        #expect(world.hub.loop.tally.deltasLeftOut > 0)
        slow.setValve(open: true)
        world.advance(by: .milliseconds(100))
        slowView.take(try slow.take())
        #expect(slowView.seq == quickView.seq && slowView.collapses == 1)
        // Then it gets deltas again.
        world.command(.rename(name: "The last"), in: room, by: ana)
        world.advance(by: .milliseconds(100))
        let messages = try slow.take()
        #expect(messages.map(\.type) == ["delta"])
        slowView.take(messages)
        quickView.take(try quick.take())
        #expect(slowView.seq == quickView.seq && slowView.collapses == 1)
    }

    @Test func `a peer that takes nothing is closed after the time for a stall`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let socket = try world.open(ana, room: room)
        _ = try socket.take()
        socket.setValve(open: false)
        world.command(.rename(name: "Hall"), in: room, by: ana)
        world.advance(by: .seconds(29))
        #expect(socket.isConnected)
        world.advance(by: .seconds(10))
        #expect(!socket.isConnected)
        #expect(world.hub.connections.isEmpty && world.hub.loop.deadlines.openChannels == 0)
    }

    @Test func `states that are not taken are charged, and further subscriptions are refused meanwhile`() throws {
        let limit = 8 * WaitingBytes.step
        let world = SocketWorld(
            settings: { $0.sizes.maximumWaitingBytesPerAddress = limit }, rooms: { $0.answers.longStateBytes = .max })
        let ana = try world.session("Ana")
        let room = try world.room(of: ana, pool: 500)
        var sockets: [TestSocket] = []
        for number in 1...8 {
            // Each asks for the state at another position.
            world.command(.rename(name: "Room number \(number)"), in: room, by: ana)
            world.advance(by: .milliseconds(10))
            let socket = try world.open(ana)
            _ = try socket.take()
            socket.setValve(open: false)
            socket.send(subscribe(room))
            sockets.append(socket)
        }
        let waiting = world.hub.loop.admission.waiting
        #expect(waiting.count > limit - WaitingBytes.step)
        for socket in sockets { socket.setValve(open: true) }
        let answers = try sockets.map { socket in try #require(try socket.take().first { $0["re"]?.integer == 1 }) }
        let held = answers.prefix { $0.type == "snapshot" }.count
        #expect(held >= 2 && held < 8)
        for answer in answers.dropFirst(held) {
            #expect(answer["code"]?.string == "rate_limited" && answer["retryAfterMs"]?.integer == 1_000)
        }
        #expect(waiting.count == 0)
        sockets[7].send(subscribe(room))
        #expect(try sockets[7].takeTypes().first == "snapshot")
        #expect(sockets.allSatisfy { $0.isOpen })
    }

    // MARK: Deadlines

    @Test func `a peer is pinged, and one that sends nothing is closed`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let (alive, silent) = (try world.open(ana, room: room), try world.open(ana))
        silent.answersPings = false
        var beats = 0
        for _ in 0..<13 {
            world.advance(by: .seconds(10))
            beats += try alive.takeTypes().count { $0 == "beat" }
            _ = try silent.take()
        }
        #expect(alive.isOpen && alive.pings == 5 && beats == 5)
        #expect(silent.closeReason?.code.rawValue == 4408)
        #expect(!silent.isConnected, "it did not answer the close")
    }

    @Test func `after the server stood still nobody who is well is closed, and one that stays silent is`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let well = try (0..<5).map { try world.open(ana, room: $0.isMultiple(of: 2) ? room : nil) }
        let silent = try world.open(ana)
        silent.answersPings = false
        // Longer than the silence limit.
        world.standStill(for: .seconds(70))
        for second in 0...62 {
            for socket in well + [silent] { _ = try socket.take() }
            try #require(well.allSatisfy { $0.isOpen && $0.pings > 0 }, "\(second) s later")
            if second < 60 { try #require(silent.isOpen && silent.pings > 0, "\(second) s later") }
            world.advance(by: .seconds(1))
        }
        #expect(silent.closeReason?.code.rawValue == 4408)
    }

    @Test func `a session that sends more than it may is answered once, and not read from for a second`() throws {
        // The allowance is earned in real time: all of the messages would take more than a minute.
        let world = SocketWorld { $0.rates.maximumMessagesPerSession = 10 }
        let socket = try world.open(try world.session("Ana"))
        _ = try socket.take()
        for id in 1...1_000 { socket.send(#"{"type":"time","id":\#(id),"t1":1}"#) }
        #expect(socket.unread.readableBytes > 0, "reading stops")
        let first = try socket.take()
        #expect(first.count >= 51 && first.count { $0.type == "error" } == 1)
        #expect(first.last?["code"]?.string == "rate_limited")
        #expect(first.last?["retryAfterMs"]?.integer ?? 0 > 0)
        world.advance(by: .milliseconds(900))
        #expect(try socket.take().isEmpty && socket.unread.readableBytes > 0)
        // Then it goes on: with what was not read, and with what was read and not handled.
        var ids = first.compactMap { $0["re"]?.integer }
        for _ in 0..<3 {
            world.advance(by: .milliseconds(1_100))
            let more = try socket.take().compactMap { $0["re"]?.integer }
            #expect(!more.isEmpty && socket.unread.readableBytes == 0)
            ids += more
        }
        #expect(ids.count < 1_000 && ids == Array(1...Int64(ids.count)))
        #expect(socket.isOpen)
    }

    @Test func `input that arrives too fast waits, and too much of it closes the socket`() throws {
        let world = SocketWorld { $0.rates.maximumMessagesPerSecond = 10 }
        let ana = try world.session("Ana")
        let socket = try world.open(ana)
        _ = try socket.take()
        for id in 1...55 { socket.send(#"{"type":"time","id":\#(id),"t1":1}"#) }
        let answers = try socket.takeTypes()
        #expect(answers.count { $0 == "time" } == 50 && answers.count { $0 == "error" } == 5)
        #expect(socket.isOpen)
        for id in 1...10 { socket.send(#"{"type":"time","id":\#(id),"t1":1}"#) }
        _ = try socket.take()
        #expect(socket.closeReason?.code.rawValue == 4429)
        // What it sends now is read and dropped at intervals, until it is quiet.
        for _ in 0..<5 {
            socket.send(#"{"type":"time","id":1,"t1":1}"#)
            world.advance(by: .milliseconds(100))
            #expect(socket.isConnected)
        }
        world.advance(by: .milliseconds(600))
        #expect(!socket.isConnected)
    }

    // MARK: Closing

    /// How a socket ends.
    enum Ending: CaseIterable {
        case clientCloses, clientVanishes, clientViolates, sessionEnds, serverDrains
    }

    /// A socket ends after each step of what it does; `shut`: it takes no output meanwhile.
    @Test(arguments: Ending.allCases, [false, true])
    func `whatever a socket does, it ends cleanly`(ending: Ending, isShut: Bool) throws {
        for step in 0...7 {
            let world = SocketWorld { $0.drainWindow = .seconds(1) }
            let ana = try world.session("Ana")
            let (room, other) = (try world.room(of: ana), try world.room(of: ana))
            let socket = try world.open(ana, room: step.isMultiple(of: 2) ? room : nil)
            if isShut { socket.setValve(open: false) }
            // Nothing settles between these steps and the end.
            if step >= 1 { socket.send(subscribe(room)) }
            if step >= 2 { socket.send(subscribe(other, id: 5)) }
            if step >= 3 { socket.send(command(#"{"type":"rename","name":"Hall"}"#, in: room)) }
            if step >= 4 { socket.send(#"{"type":"nearby","id":6,"lat":52.5,"lon":13.4}"#) }
            if step >= 5 { world.command(.rename(name: "Cellar"), in: room, by: ana) }
            if step >= 6 { socket.send(#"{"type":"unsubscribe","id":7,"room":"\#(other)"}"#) }
            if step >= 7 { world.advance(by: .seconds(1)) }
            var expected: UInt16?
            switch ending {
            case .clientCloses:
                socket.close()
                expected = 1000
            case .clientVanishes: socket.vanish()
            case .clientViolates:
                socket.sendRaw([0xFF, 0xFF])
                expected = 1002
            case .sessionEnds:
                world.onLoop { world.hub.sessionEnded(ana.id) }
                expected = 4401
            case .serverDrains:
                world.onLoop { world.hub.drain(over: .seconds(1)) }
                expected = 1012
            }
            world.advance(by: .seconds(3))
            if !isShut {
                _ = try socket.take()
                if let expected { #expect(socket.closeReason?.code.rawValue == expected, "step \(step)") }
            }
            // The client does not answer a close; the server waits no longer than it says.
            world.advance(by: .seconds(10))
            #expect(!socket.isConnected, "step \(step)")
            #expect(world.hub.connections.isEmpty, "step \(step)")
            #expect(world.hub.loop.deadlines.openChannels == 0, "step \(step)")
            #expect(world.hub.loop.admission.waiting.count == 0, "step \(step)")
            // The rooms have nobody who follows.
            let host = world.host
            let online = try world.result { try await host.registry.view(room, for: ana.id).presence?.online }
            #expect(online == 0, "step \(step)")
            #expect(host.nearby.standing.watches == 0, "step \(step)")
        }
    }

    @Test func `a planned stop is spread evenly over its window, and closes nobody before the announced time`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let sockets = try (0..<60).map { _ in try world.open(ana) }
        for socket in sockets { _ = try socket.take() }
        world.onLoop { world.hub.drain(over: .seconds(6)) }
        var left: [(socket: TestSocket, told: Int64)] = []
        for socket in sockets {
            let messages = try socket.take()
            #expect(messages.map(\.type) == ["goaway"])
            left.append((socket, try #require(messages.first?["reconnectInMs"]?.integer)))
        }
        // One in each tenth of a second.
        for (part, told) in left.map(\.told).sorted().enumerated() {
            #expect((Int64(100 * part)...Int64(100 * part + 100)).contains(told))
        }
        for now in stride(from: Int64(100), through: 6_200, by: 100) {
            world.advance(by: .milliseconds(100))
            for (socket, told) in left {
                _ = try socket.take()
                if socket.isOpen {
                    #expect(now < told + 200)
                } else {
                    #expect(told <= now && socket.closeReason?.code.rawValue == 1012)
                }
            }
            left.removeAll { !$0.socket.isOpen }
        }
        #expect(left.isEmpty)
    }

    @Test func `a planned stop answers what was read before it closes`() throws {
        let world = SocketWorld()
        let ana = try world.session("Ana")
        let room = try world.room(of: ana)
        let socket = try world.open(ana, room: room)
        _ = try socket.take()
        world.onLoop { world.hub.drain(over: .seconds(2)) }
        for id in 1...20 { socket.send(command(#"{"type":"rename","name":"Hall \#(id)"}"#, in: room, id: id)) }
        world.advance(by: .seconds(3))
        let messages = try socket.take()
        #expect(messages.first?.type == "goaway")
        #expect(messages.count { $0.type == "ack" } == 20)
        #expect(socket.closeReason?.code.rawValue == 1012)
    }
}
