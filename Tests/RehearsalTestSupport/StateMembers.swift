import RoomDomain
package import RoomReplica
package import RoomWire

/// An object of JSON.
package func jsonObject(_ members: [String: JSONValue]) -> JSONValue {
    .object(JSONObject(members.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }))
}

/// What a program under test tells of one room: how it is, and how it is shown.
package func stateMembers(of room: ClientRoom) throws -> [String: JSONValue] {
    var state: [String: JSONValue] = [:]
    switch room.phase {
    case .connecting, .offline: state["phase"] = .string("offline")
    case .live, .catchingUp: state["phase"] = .string("live")
    case .ended(let refusal):
        state["phase"] = .string("ended")
        state["code"] = .string(refusal.code.text)
    }
    state["pending"] = .integer(Int64(room.pending.count))
    guard let replica = room.replica else { return state }
    state["position"] = jsonObject([
        "epoch": .string(replica.position.epoch), "seq": .integer(Int64(replica.position.seq)),
    ])
    state["keyed"] = replica.keyed.map { .integer(Int64($0)) }
    state["state"] = try JSONValue(parsing: StateJSON.encode(replica.state))
    if let shown = room.shown { state["shown"] = try JSONValue(parsing: StateJSON.encode(shown)) }
    if let you = replica.you { state["you"] = try JSONValue(parsing: YouJSON.encode(you)) }
    state["online"] = replica.online.map { .integer(Int64($0)) }
    state["members"] = replica.onlineMembers.map { members in
        .array(members.sorted().map { .integer(Int64($0.rawValue)) })
    }
    if let deck = room.shownDeck {
        state["deck"] = jsonObject(
            ["member": .integer(Int64(deck.member.rawValue))].merging(deck.isHere ? ["here": .bool(true)] : [:]) {
                first, _ in first
            })
    }
    return state
}
