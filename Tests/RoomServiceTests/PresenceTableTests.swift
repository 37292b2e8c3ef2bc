import FoundationEssentials
import NIOCore
import RandomTestSupport
import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// The notices about online members between servers.
@Suite struct PresenceTableTests {
    /// Servers connected by a bus that may lose, repeat and delay messages.
    private struct Cluster {
        struct Server {
            var table: PresenceTable
            var name: String
            /// The members that are actually online here.
            var here: [RoomID: Set<MemberID>] = [:]
            /// The claims to be the deck that are actually held here.
            var claims: [RoomID: DeckClaim] = [:]
            /// The notices on their way to it.
            var arriving: [(notice: NodeNotice, from: String)] = []
        }

        static let beat = TimeAmount.seconds(5)
        static let lease = TimeAmount.seconds(20)
        var servers: [Server] = []
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var started = 0
        /// The grace that a server gives clients of a stopped server.
        var grace = TimeAmount.zero

        mutating func start() {
            started += 1
            let name = "node-\(started)"
            let table = PresenceTable(
                node: name, isShared: true, beatInterval: Self.beat, lease: Self.lease, grace: grace, at: now)
            servers.append(Server(table: table, name: name))
            let effects = servers[servers.count - 1].table.connected(at: now)
            send(effects.tellings, from: servers.count - 1)
        }

        mutating func send(_ tellings: [PresenceTable.Effects.Telling], from sender: Int) {
            let name = servers[sender].name
            for telling in tellings {
                for index in servers.indices where index != sender {
                    guard telling.recipient ?? servers[index].name == servers[index].name else { continue }
                    servers[index].arriving.append((telling.notice, name))
                }
            }
        }

        mutating func set(_ member: MemberID, _ isHere: Bool, in room: RoomID, at index: Int) -> Set<MemberID> {
            if isHere {
                servers[index].here[room, default: []].insert(member)
            } else {
                servers[index].here[room, default: []].remove(member)
            }
            return servers[index].table.set([member: isHere], in: room)
        }

        mutating func tellChanges(at index: Int) {
            send(servers[index].table.takeChanges(), from: index)
        }

        /// Delivers the first notice on its way to a server; false if there is none.
        mutating func hear(at index: Int) -> PresenceTable.Effects? {
            guard !servers[index].arriving.isEmpty else { return nil }
            let (notice, from) = servers[index].arriving.removeFirst()
            let effects = servers[index].table.heard(notice, from: from, at: now)
            send(effects.tellings, from: index)
            giveWay(in: effects.decks, at: index)
            return effects
        }

        /// Makes a claim at a server, or ends the one that it has.
        mutating func claim(_ member: MemberID?, in room: RoomID, at index: Int, time: Int64) {
            let newest = servers[index].table.decks.newest(in: room)
            let at = Timestamp(milliseconds: max(time, (newest?.at.milliseconds ?? 0) + 1))
            let claim = DeckClaim(room: room, member: member, at: at)
            servers[index].claims[room] = member == nil ? nil : claim
            guard servers[index].table.decks.set(claim) else { return }
            send([.init(notice: .decksChanged([claim]), recipient: nil)], from: index)
        }

        /// Ends a server's claims where another server has a newer one.
        mutating func giveWay(in rooms: Set<RoomID>, at index: Int) {
            for room in rooms where servers[index].claims[room] != nil {
                if servers[index].table.decks.newest(in: room)?.node != nil { claim(nil, in: room, at: index, time: 0) }
            }
        }

        /// Lets time pass without losing notices.
        mutating func pass(_ seconds: Int) {
            for _ in 0..<seconds {
                now = now + .seconds(1)
                for index in servers.indices {
                    tellChanges(at: index)
                    let effects = servers[index].table.tick(at: now)
                    send(effects.tellings, from: index)
                    giveWay(in: effects.decks, at: index)
                }
                while servers.indices.contains(where: { !servers[$0].arriving.isEmpty }) {
                    for index in servers.indices { _ = hear(at: index) }
                }
            }
        }

        /// The members that are actually online in a room, but not at this server.
        func elsewhere(in room: RoomID, than index: Int) -> Set<MemberID> {
            servers.indices.filter { $0 != index }.reduce([]) { $0.union(servers[$1].here[room] ?? []) }
        }
    }

    private static let rooms = (0..<4).map { number in
        RoomID(UUID(uuid: (1, 0, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, UInt8(number))))
    }

    private func id(_ number: Int) -> MemberID { MemberID(rawValue: number) }

    private func expectTruth(_ cluster: inout Cluster, _ what: Comment) {
        for index in cluster.servers.indices {
            for room in Self.rooms {
                let elsewhere = cluster.elsewhere(in: room, than: index)
                #expect(cluster.servers[index].table.elsewhere(in: room) == elsewhere, what)
                let all = elsewhere.union(cluster.servers[index].here[room] ?? [])
                #expect(cluster.servers[index].table.count(of: room) == all.count, what)
                for member in all {
                    let there = cluster.servers.enumerated()
                        .filter { $0 != index && $1.here[room]?.contains(member) == true }.map(\.element.name)
                    let known = cluster.servers[index].table.servers(of: member, in: room)
                    #expect(Set(known) == Set(there) && known.count == there.count, what)
                }
            }
            #expect(cluster.servers[index].table.peerCount == cluster.servers.count - 1, what)
        }
        for room in Self.rooms {
            let claims = cluster.servers.compactMap { $0.claims[room] }
            #expect(claims.count <= 1, what)
            for server in cluster.servers {
                let newest = server.table.decks.newest(in: room)
                #expect(newest?.member == claims.first?.member && newest?.at == claims.first?.at, what)
            }
        }
    }

    @Test(arguments: TestSeed.fixed(1...100))
    func `whatever is lost, repeated or late, all servers are right after the leases`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var cluster = Cluster()
        for _ in 0..<3 { cluster.start() }
        for _ in 0..<400 {
            let index = Int.random(in: cluster.servers.indices, using: &random)
            switch Int.random(in: 0..<28, using: &random) {
            case 0..<9:
                guard let room = Self.rooms.randomElement(using: &random) else { continue }
                let member = id(.random(in: 1...8, using: &random))
                let elsewhere = cluster.set(member, .random(using: &random), in: room, at: index)
                #expect(elsewhere.isSubset(of: [member]))
            case 9..<13: cluster.tellChanges(at: index)
            case 13..<18:
                if let effects = cluster.hear(at: index) {
                    #expect(effects.moved.values.allSatisfy { !$0.isEmpty })
                }
            case 18:
                // Lost.
                if !cluster.servers[index].arriving.isEmpty { cluster.servers[index].arriving.removeFirst() }
            case 19:
                // Twice, and at any later time.
                if let notice = cluster.servers[index].arriving.randomElement(using: &random) {
                    cluster.servers[index].arriving.append(notice)
                }
            case 20..<22:
                cluster.now = cluster.now + .milliseconds(.random(in: 0...3_000, using: &random))
                let effects = cluster.servers[index].table.tick(at: cluster.now)
                cluster.send(effects.tellings, from: index)
                cluster.giveWay(in: effects.decks, at: index)
            case 24..<28:
                guard let room = Self.rooms.randomElement(using: &random) else { continue }
                let member = random.once(in: 3) ? nil : id(.random(in: 1...8, using: &random))
                // Clocks differ, and may show the same.
                cluster.claim(member, in: room, at: index, time: .random(in: 1...5, using: &random))
            case 22:
                guard cluster.servers.count > 1, random.once(in: 4) else { continue }
                // A crash, or a goodbye.
                if Bool.random(using: &random) {
                    cluster.send([.init(notice: .presenceEnded, recipient: nil)], from: index)
                }
                cluster.servers.remove(at: index)
            default:
                if cluster.servers.count < 4 { cluster.start() }
            }
        }
        cluster.pass(30)
        expectTruth(&cluster, "seed \(seed)")
    }

    @Test func `members at a server that is not heard of are offline when its lease ends, and not before`() {
        var cluster = Cluster()
        for _ in 0..<2 { cluster.start() }
        _ = cluster.set(id(1), true, in: Self.rooms[0], at: 0)
        cluster.pass(10)
        #expect(cluster.servers[1].table.count(of: Self.rooms[0]) == 1)
        cluster.servers.remove(at: 0)
        cluster.pass(14)
        #expect(cluster.servers[0].table.count(of: Self.rooms[0]) == 1)
        cluster.pass(7)
        #expect(cluster.servers[0].table.count(of: Self.rooms[0]) == 0)
        #expect(cluster.servers[0].table.peerCount == 0)
    }

    @Test func `a server that stalled does not take the others for dead`() {
        var cluster = Cluster()
        for _ in 0..<2 { cluster.start() }
        _ = cluster.set(id(1), true, in: Self.rooms[0], at: 0)
        cluster.pass(10)
        cluster.now = cluster.now + .seconds(60)
        #expect(cluster.servers[1].table.tick(at: cluster.now).moved == [:])
        #expect(cluster.servers[1].table.count(of: Self.rooms[0]) == 1)
    }

    @Test func `clients of a server that stops have the grace to connect to another one`() {
        var cluster = Cluster(grace: .seconds(15))
        for _ in 0..<2 { cluster.start() }
        for number in 1...3 { _ = cluster.set(id(number), true, in: Self.rooms[0], at: 0) }
        cluster.pass(1)
        let goodbye = cluster.servers[1].table.heard(.presenceEnded, from: "node-1", at: cluster.now)
        #expect(goodbye == PresenceTable.Effects())
        #expect(cluster.servers[1].table.peerCount == 0)
        #expect(cluster.set(id(2), true, in: Self.rooms[0], at: 1) == [id(2)])
        _ = cluster.servers[1].table.tick(at: cluster.now + .seconds(14))
        #expect(cluster.servers[1].table.count(of: Self.rooms[0]) == 3)
        let end = cluster.servers[1].table.tick(at: cluster.now + .seconds(15))
        #expect(end.moved == [Self.rooms[0]: [id(1), id(2), id(3)]])
        #expect(end.expired == 0)
        #expect(cluster.servers[1].table.count(of: Self.rooms[0]) == 1)
    }

    @Test func `without a grace, a goodbye takes effect at once`() {
        var cluster = Cluster()
        for _ in 0..<2 { cluster.start() }
        for number in 1...3 { _ = cluster.set(id(number), true, in: Self.rooms[0], at: 0) }
        cluster.pass(1)
        let effects = cluster.servers[1].table.heard(.presenceEnded, from: "node-1", at: cluster.now)
        #expect(effects == PresenceTable.Effects(moved: [Self.rooms[0]: [id(1), id(2), id(3)]]))
        #expect(cluster.servers[1].table.count(of: Self.rooms[0]) == 0)
    }

    @Test func `a member at two servers is online once, until both have lost it`() {
        var cluster = Cluster()
        for _ in 0..<3 { cluster.start() }
        for index in 0..<2 { _ = cluster.set(id(1), true, in: Self.rooms[0], at: index) }
        cluster.pass(1)
        #expect(cluster.servers.indices.map { cluster.servers[$0].table.count(of: Self.rooms[0]) } == [1, 1, 1])
        #expect(cluster.set(id(1), false, in: Self.rooms[0], at: 0) == [id(1)])
        cluster.pass(1)
        #expect(cluster.servers.indices.map { cluster.servers[$0].table.count(of: Self.rooms[0]) } == [1, 1, 1])
        #expect(cluster.set(id(1), false, in: Self.rooms[0], at: 1) == [])
        cluster.pass(1)
        #expect(cluster.servers.indices.map { cluster.servers[$0].table.count(of: Self.rooms[0]) } == [0, 0, 0])
    }

    @Test func `fifty thousand members are told in notices that any bus takes`() throws {
        var cluster = Cluster()
        cluster.start()
        for number in 1...10_000 {
            // Numbers of members at their largest.
            for room in Self.rooms { _ = cluster.set(id(Int.max - number), true, in: room, at: 0) }
        }
        let many = (0..<10_000).map { _ in RoomID(UUID()) }
        for room in many { _ = cluster.set(id(1), true, in: room, at: 0) }
        cluster.start()
        // Messages that were lost before it started.
        cluster.servers[1].arriving = []
        let effects = cluster.servers[0].table.heard(.presenceWanted, from: "node-2", at: cluster.now)
        for telling in effects.tellings { #expect(telling.notice.encoded().count < 450_000) }
        let lists = effects.tellings.count { telling in
            if case .presenceList = telling.notice { true } else { false }
        }
        #expect(lists > 5)
        cluster.send(effects.tellings, from: 0)
        cluster.pass(1)
        expectTruth(&cluster, "after the list")
        #expect(cluster.servers[1].table.count(of: many[9_999]) == 1)
        #expect(cluster.servers[1].table.counts().count == 10_004)
    }

    @Test(arguments: TestSeed.fixed(1...50))
    func `notices are read as they were written`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func ids() -> [MemberID] {
            (0..<Int.random(in: 0...5, using: &random)).map { _ in id(.random(in: 1...Int.max, using: &random)) }
        }
        let room = Self.rooms[0]
        let relayed = try #require(RelayedJSON(Array(#"{"a":[1e2,"\u0000\" é"],"b":null}"#.utf8)))
        let notices: [NodeNotice] = [
            .presenceChanged([MemberChanges(room: room, on: ids(), off: ids())]), .presenceChanged([]),
            .presenceList(part: 3, isLast: true, [OnlineMembers(room: room, members: ids())]),
            .presenceList(part: 0, isLast: false, []), .presenceBeat(sum: .random(in: .min ... .max, using: &random)),
            .presenceWanted, .presenceEnded,
            .decksChanged([DeckClaim(room: room, member: nil, at: Timestamp(milliseconds: 7))]),
            .deckList(part: 0, isLast: true, [DeckClaim(room: room, member: id(3), at: Timestamp(milliseconds: 7))]),
            .reaction(room, from: id(7), emoji: "👩🏻‍❤️‍💋‍👨🏿"),
            .signal(room, from: id(1), to: id(2), relayed),
        ]
        let text = NodeEnvelope.encode(sender: "node-1", notices: notices.map { $0.encoded() })
        #expect(NodeEnvelope(parsing: text) == NodeEnvelope(sender: "node-1", notices: notices), "seed \(seed)")
    }
}
