import RehearsalTestSupport
package import RoomClient

package import struct RoomWire.JSONObject
package import enum RoomWire.JSONValue
package import struct RoomWire.JSONWriter

/// An app on RoomClient that does what it is told.
@MainActor package final class RehearsedApp {
    static let can = [
        "again", "cancel", "claim", "clock", "clock-sync", "commands", "deck", "expiry", "keyed", "nearby", "presence",
        "react",
        "resume", "several", "shown", "signal", "wake",
    ]

    private let client: RoomClient
    private let clock: PassingClock
    private let running: Task<Void, Never>
    private var rooms: [String: (reference: RoomReference, room: Room)] = [:]
    private var decks: [String: Deck] = [:]
    private var circles: [String: NearbyRooms] = [:]
    private var outcomes: [String: JSONValue] = [:]
    private var reactions: [JSONValue] = []
    private var signals: [JSONValue] = []

    /// An app that begins as it is told.
    ///
    /// - Parameters:
    ///   - start: What it is told.
    ///   - transport: How it reaches the server.
    ///   - clock: Its clock, which it can set ahead.
    /// - Throws: ``Unreadable`` if it is told no address or no token.
    package init(_ start: JSONObject, transport: any ClientTransport, clock: any ClientClock = SystemClock()) throws {
        guard let address = start["address"]?.string.flatMap({ ServerAddress($0) }),
            let token = start["token"]?.string
        else { throw Unreadable() }
        self.clock = PassingClock(clock)
        client = RoomClient(address, as: .token(token), transport: transport, clock: self.clock)
        running = Task { [client] in try? await client.run() }
    }

    /// Ends the connection; returns when that is done.
    package func end() async {
        running.cancel()
        await running.value
    }

    /// Does or tells what a line asks for; the line `start` makes the app, and is answered with what it can do.
    package static func answer(
        _ line: [UInt8], _ app: inout RehearsedApp?, make: (JSONObject) throws -> RehearsedApp
    ) throws -> [UInt8] {
        let request = try JSONValue(parsing: line, maximumDepth: 64).object
        let answer: JSONValue
        if let start = request?["start"]?.object {
            app = try make(start)
            answer = jsonObject(["can": .array(can.map { .string($0) })])
        } else if let app, let action = request?["do"]?.object {
            answer = app.act(action)
        } else if let app, let room = request?["state"]?.string {
            answer = jsonObject(["state": try app.state(of: room)])
        } else {
            answer = jsonObject(["cannot": .string("this is no request")])
        }
        var writer = JSONWriter()
        writer.value(answer)
        return writer.bytes
    }

    struct Unreadable: Error {}

    // MARK: What it is told to do

    func act(_ action: JSONObject) -> JSONValue {
        do {
            try run(action)
            return jsonObject(["done": .bool(true)])
        } catch {
            return jsonObject(["cannot": .string("\(error)")])
        }
    }

    private func run(_ action: JSONObject) throws {
        let name = action["as"]?.string ?? ""
        switch action["type"]?.string {
        case "follow": try follow(action["room"]?.string ?? "")
        case "unfollow":
            guard let key = key(of: action["room"]?.string ?? "") else { throw Unreadable() }
            decks[key] = nil
            rooms[key] = nil
        case "wake": client.wake()
        case "pass": clock.pass(.milliseconds(action["ms"]?.integer ?? 0))
        case "command":
            guard let command = command(action["command"]?.object) else { throw Unreadable() }
            let pending = client.post(command, to: try room(action).reference)
            Task { await answer(of: name) { outcome(try await pending.answer()) } }
        case "takeDeck": decks[try room(action).room.reference.description] = try room(action).room.takeDeck()
        case "deck":
            guard let deck = decks[try room(action).room.reference.description] else { throw Unreadable() }
            try change(deck, action["command"]?.object)
        case "react":
            guard let emoji = action["emoji"]?.string?.first else { throw Unreadable() }
            try room(action).room.react(emoji)
        case "signal":
            var writer = JSONWriter()
            writer.value(action["data"] ?? .null)
            let (room, json) = (try room(action).room, writer.bytes)
            let member = MemberID(rawValue: Int(action["to"]?.integer ?? 0))
            Task {
                await answer(of: name) {
                    try await room.signal(json: json, to: member)
                    return jsonObject(["ok": .bool(true)])
                }
            }
        case "claim":
            let (room, isOn) = (try room(action).room, action["on"]?.bool ?? true)
            Task {
                await answer(of: name) {
                    try await isOn ? room.claimDeck() : room.releaseDeck()
                    return jsonObject(["ok": .bool(true)])
                }
            }
        case "nearby":
            guard let lat = action["lat"]?.number, let lon = action["lon"]?.number,
                let center = Location(latitude: lat, longitude: lon)
            else { throw Unreadable() }
            circles[name] = client.nearby(Circle(center: center, radius: action["radiusMeters"]?.number ?? 5_000))
        default: throw Unreadable()
        }
    }

    private func follow(_ name: String) throws {
        guard let reference = RoomReference(name) else { throw Unreadable() }
        let room = client.room(reference)
        rooms[name] = (reference, room)
        let (reactions, signals) = (room.reactions, room.signals)
        Task {
            for await one in reactions {
                self.reactions.append(
                    jsonObject(["from": .integer(Int64(one.from.rawValue)), "emoji": .string(one.emoji)]))
            }
        }
        Task {
            for await one in signals {
                let data = (try? JSONValue(parsing: one.json)) ?? .null
                self.signals.append(jsonObject(["from": .integer(Int64(one.from.rawValue)), "data": data]))
            }
        }
    }

    /// The name under which a room is followed: its id or its code.
    private func key(of name: String) -> String? {
        rooms[name] != nil ? name : rooms.first { $0.value.room.id?.description == name }?.key
    }

    private func room(_ action: JSONObject) throws -> (reference: RoomReference, room: Room) {
        guard let room = key(of: action["room"]?.string ?? "").flatMap({ rooms[$0] }) else { throw Unreadable() }
        return room
    }

    private func command(_ fields: JSONObject?) -> Command? {
        let track = TrackID(rawValue: Int(fields?["track"]?.integer ?? 0))
        switch fields?["type"]?.string {
        case "join": return .join(as: fields?["name"]?.string)
        case "rename": return .rename(to: fields?["name"]?.string ?? "")
        case "vote": return .vote(for: track)
        case "unvote": return .unvote(track)
        case "enqueue": return .enqueue(track, at: (fields?["at"]?.integer).map { Int($0) })
        case "pause": return .pause()
        case "resume": return .resume()
        default: return nil
        }
    }

    private func change(_ deck: Deck, _ fields: JSONObject?) throws {
        switch fields?["type"]?.string {
        case "pause": deck.pause()
        case "resume": deck.resume()
        case "skip": deck.skip()
        case "seek": deck.seek(to: .milliseconds(fields?["positionMs"]?.integer ?? 0))
        case "enqueue":
            deck.enqueue(
                TrackID(rawValue: Int(fields?["track"]?.integer ?? 0)), at: (fields?["at"]?.integer).map { Int($0) })
        default: throw Unreadable()
        }
    }

    // MARK: Answers

    private func answer(of name: String, _ wait: () async throws -> JSONValue) async {
        do {
            outcomes[name] = try await wait()
        } catch let error as ClientError {
            switch error.code {
            case .outcomeUnknown: outcomes[name] = jsonObject(["unknown": .bool(true)])
            case .expired, .superseded: outcomes[name] = jsonObject(["dropped": .bool(true)])
            default: outcomes[name] = jsonObject(["error": .string(error.code.rawValue)])
            }
        } catch {
            outcomes[name] = jsonObject(["error": .string("\(error)")])
        }
    }

    private nonisolated func outcome(_ receipt: Receipt) -> JSONValue {
        var result: [String: JSONValue] = [:]
        if let member = receipt.member { result["member"] = .integer(Int64(member.rawValue)) }
        if let entry = receipt.entry { result["entry"] = .integer(Int64(entry.rawValue)) }
        if !receipt.tracks.isEmpty { result["tracks"] = .array(receipt.tracks.map { .integer(Int64($0.rawValue)) }) }
        let ok: [String: JSONValue] = ["ok": .bool(true)]
        return jsonObject(result.isEmpty ? ok : ok.merging(["result": jsonObject(result)]) { first, _ in first })
    }

    // MARK: Its state

    func state(of name: String) throws -> JSONValue {
        var state: [String: JSONValue] = [
            "outcomes": jsonObject(outcomes), "reactions": .array(reactions), "signals": .array(signals),
            "nearby": jsonObject(
                circles.mapValues { circle in
                    circle.error.map { jsonObject(["error": .string($0.code.rawValue)]) }
                        ?? .array((circle.rooms ?? []).map { .string($0.id.description) })
                }),
        ]
        if let time = client.time { state["time"] = .integer(time.now.milliseconds) }
        guard let key = key(of: name), let (reference, room) = rooms[key] else { return jsonObject(state) }
        guard let machine = client.machineRoom(reference) else { return jsonObject(state) }
        state.merge(try stateMembers(of: machine)) { _, new in new }
        // What the app sees counts: the objects of the main actor.
        switch room.phase {
        case .connecting, .offline: state["phase"] = .string("offline")
        case .live, .catchingUp: state["phase"] = .string("live")
        case .ended: state["phase"] = .string("ended")
        }
        guard let position = room.position else {
            for member in ["position", "state", "shown", "you"] { state[member] = nil }
            return jsonObject(state)
        }
        state["position"] = jsonObject([
            "epoch": .string(position.epoch), "seq": .integer(Int64(position.sequence)),
        ])
        state["online"] = room.online.map { .integer(Int64($0)) }
        state["members"] = room.onlineMembers.map { members in
            .array(members.map { Int64($0.rawValue) }.sorted().map { .integer($0) })
        }
        state["deck"] = room.deckMember.map { member in
            var deck: [String: JSONValue] = ["member": .integer(Int64(member.rawValue))]
            if room.isDeck { deck["here"] = .bool(true) }
            return jsonObject(deck)
        }
        state["shown"] = shown(state["shown"], room)
        return jsonObject(state)
    }

    /// The state with what the room's object shows in place of what the machine would.
    private func shown(_ machine: JSONValue?, _ room: Room) -> JSONValue? {
        guard var state = machine?.object?.byName else { return nil }
        state["name"] = room.details.map { .string($0.name) }
        state["requests"] = .array(room.requests.map { .integer(Int64($0.id.rawValue)) })
        state["pool"] = .array(
            room.pool.map { track in
                jsonObject([
                    "track": .integer(Int64(track.id.rawValue)), "title": .string(track.info.title),
                    "votes": .integer(Int64(track.votes)),
                ])
            })
        state["queue"] = .array(
            room.queue.map { entry in
                jsonObject([
                    "entry": .integer(Int64(entry.id.rawValue)), "track": .integer(Int64(entry.track.rawValue)),
                ])
            })
        return jsonObject(state)
    }
}
