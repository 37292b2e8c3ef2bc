import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomService
import SimulatedTime

extension World {
    /// The time within which all servers and clients must agree, in nanoseconds.
    private static let patience: Int64 = 60_000_000_000

    /// The current time of a correct clock.
    private var now: Timestamp {
        Timestamp(milliseconds: Int64(SimulatedNode.beginning) + scheduler.now / 1_000_000)
    }

    /// Ends all faults: everybody must reach the fold of the log.
    func settle() {
        guard !isSettling else { return }
        truth.note("nothing goes wrong any more")
        isSettling = true
        log.weather = .calm
        network.losesOnceIn = 0
        for (place, node) in nodes.enumerated() {
            node.pause(false)
            node.cutOff(false)
            if node.hasCrashed { start(place) }
        }
        for number in apps.indices { reconnect(number) }
        let deadline = scheduler.now + Self.patience
        // Late actions are done by then.
        later(5_000_000_000) { $0.awaitAgreement(until: deadline) }
        for number in wishes.indices where !wishes[number].isOver && !wishes[number].isWaiting { retry(number) }
    }

    private func awaitAgreement(until deadline: Int64) {
        guard let missing = missingAgreement() else {
            guard hasClaimedLast else { return claimLast(until: deadline) }
            return awaitPresence(until: deadline)
        }
        guard scheduler.now < deadline else { return truth.complain("there is no agreement: \(missing)") }
        later(100_000_000) { $0.awaitAgreement(until: deadline) }
    }

    /// Lets members claim the decks, so that servers take them over from each other.
    private func claimLast(until deadline: Int64) {
        hasClaimedLast = true
        for room in rooms where dice.once(in: 2) {
            for _ in 0..<2 { claimDeck(of: room) }
        }
        later(100_000_000) { $0.awaitAgreement(until: deadline) }
    }

    /// The first thing that does not agree yet; nil if everything does.
    private func missingAgreement() -> String? {
        if let number = wishes.firstIndex(where: { !$0.isOver || $0.isWaiting }) {
            return "wish \(number) is not answered"
        }
        if let node = errands.first { return "\(node.name) has not answered" }
        for client in clients where !client.isLeaving {
            for room in rooms {
                if let missing = missingAgreement(of: client, on: room) { return missing }
            }
        }
        for client in clients where client.isLeaving {
            guard endedSessions.contains(client.session.id) else { return "\(client.session.name) has not left" }
            for room in truth.rooms where truth.roomState(room).isOpen {
                if truth.roomState(room).memberOfSession[client.session.id] != nil {
                    return "\(client.session.name) has left and is in \(room)"
                }
            }
        }
        for app in apps {
            if let missing = missingAgreement(of: app) { return missing }
        }
        return missingCount()
    }

    private func missingAgreement(of client: Client, on room: RoomID) -> String? {
        let state = truth.roomState(room)
        let isBanned = state.refusal(of: client.session.id, at: now) != nil
        guard let connection = client.connections.first(where: { $0.room == room }) else {
            if isBanned { return nil }
            connect(client, to: room)
            return "\(client.session.name) does not follow \(room)"
        }
        if isBanned { return "\(client.session.name) follows \(room) and is banned" }
        guard connection.isFollowing, !connection.isCatchingUp else {
            return "\(client.session.name) waits for \(room) on \(connection.node.name)"
        }
        guard client.positions[room]?.epoch == truth.room(room)?.epoch else {
            return "\(client.session.name) follows another log of \(room) on \(connection.node.name)"
        }
        let reached = client.positions[room]?.seq ?? 0
        guard reached == state.seq else {
            return "\(client.session.name) has \(reached) of \(state.seq) of \(room) on \(connection.node.name)"
        }
        return nil
    }

    /// The online members of a room: those who follow it, as far as a server can know.
    private func online(in room: RoomID, as node: SimulatedNode) -> Set<MemberID> {
        let state = truth.roomState(room)
        let following = clients.filter { client in
            client.connections.contains { $0.room == room && $0.isFollowing && (plan.hasBus || $0.node === node) }
        }
        let byApps = apps.filter { app in
            guard let socket = app.socket, plan.hasBus || socket.node === node else { return false }
            return socket.follows.contains { $0.room == room && $0.isFollowing }
        }
        return Set((following.map(\.session.id) + byApps.map(\.session.id)).compactMap { state.memberOfSession[$0] })
    }

    private func awaitPresence(until deadline: Int64) {
        var missing: String?
        for room in rooms {
            for client in clients {
                for connection in client.connections where connection.room == room {
                    let expected = online(in: room, as: connection.node)
                    guard connection.online != expected else { continue }
                    missing =
                        "\(client.session.name) on \(connection.node.name) takes \(connection.online.numbers) for online "
                        + "in \(room), not \(expected.numbers)"
                }
            }
        }
        missing = missing ?? rooms.lazy.compactMap { self.missingAgreementOnDeck(of: $0) }.first
        guard let missing else { return compare(until: deadline) }
        guard scheduler.now < deadline else { return truth.complain("there is no agreement: \(missing)") }
        later(200_000_000) { $0.awaitPresence(until: deadline) }
    }

    // MARK: Comparing

    /// Compares every room on every server, and the rows beside the log.
    private func compare(until deadline: Int64) {
        for room in truth.rooms {
            let state = truth.roomState(room)
            let session = state.members.values.min { $0.id < $1.id }?.session ?? clients[0].session.id
            for node in nodes { look(at: room, for: session, on: node, mustWork: true) }
            compareDirectory(room, state)
            compareCounts(of: room)
        }
        for finding in log.verify() { truth.complain("the log is not sound: \(finding)") }
        for client in clients {
            let session = client.session.id
            let expected = truth.rooms.filter { room in
                let state = truth.roomState(room)
                return state.isOpen && state.memberOfSession[session] != nil
            }
            let kept = try? log.carryOut { log throws(StorageFault) in try await log.memberships(of: session.uuid) }
                .get()
            if Set(kept ?? []) != Set(expected.map(\.uuid)) {
                truth.complain("\(client.session.name) is kept as a member of \(kept ?? []), not of \(expected)")
            }
        }
        for client in clients {
            for connection in client.connections { drop(connection.id, of: client) }
        }
        for app in apps { compare(app) }
        awaitQuiet(until: deadline)
    }

    private func compareDirectory(_ room: RoomID, _ state: RoomState) {
        let uuid = room.uuid
        let kept = try? log.carryOut { log throws(StorageFault) in try await log.directory(of: [uuid]) }.get()
        if kept?.first?.entry != DirectoryEntry(of: state) {
            truth.complain("the directory says \(String(describing: kept?.first?.entry)) of \(room)")
        }
        let loaded = try? log.carryOut { log throws(StorageFault) in
            try await log.load(uuid, reducerVersion: 0, after: nil)
        }.get()
        if loaded?.head.version.seq != state.seq { truth.complain("the log of \(room) is not what it was given") }
    }

    /// Waits until no request is unanswered and every room has left memory.
    private func awaitQuiet(until deadline: Int64) {
        let (nodes, truth) = (nodes, truth)
        if let node = errands.first {
            guard scheduler.now < deadline else { return truth.complain("\(node.name) has not answered") }
            return later(100_000_000) { $0.awaitQuiet(until: deadline) }
        }
        for node in nodes where node.feed.waiting > 0 { truth.complain("\(node.name) owes answers to who follows") }
        let isLate = scheduler.now >= deadline
        nodes[0].run {
            for node in nodes {
                let rooms = await node.host.registry.liveRooms()
                guard rooms > 0 else { continue }
                guard !isLate else { return truth.complain("\(rooms) rooms stay in memory on \(node.name)") }
                return self.later(200_000_000) { $0.awaitQuiet(until: deadline) }
            }
            self.setOver()
        }
    }
}
