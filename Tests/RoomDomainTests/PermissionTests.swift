import RoomDomain
import RoomTestSupport
import Testing

/// Who may do what: every command by everybody who could ask for it.
@Suite struct PermissionTests {
    /// A command with the least role whose rights it needs.
    struct Row: Sendable, CustomTestStringConvertible {
        let command: RoomCommand
        let least: Role

        init(_ command: RoomCommand, _ least: Role) {
            self.command = command
            self.least = least
        }

        var testDescription: String { "\(command)" }
    }

    static let rows: [Row] = [
        Row(.rename(name: "X"), .guest), Row(.vote(track: 1), .guest), Row(.unvote(track: 1), .guest),
        Row(.leave, .guest), Row(.voteSkip(entry: 1), .guest), Row(.voteSkip(entry: 99), .guest),
        Row(.kick(member: 4, ban: false, note: nil), .dj), Row(.kick(member: 4, ban: true, note: nil), .dj),
        Row(.addTracks([.titled("New")]), .dj), Row(.removeTracks([4]), .dj),
        Row(.enqueue(track: 1, index: nil), .dj), Row(.dequeue(entry: 2), .dj), Row(.move(entry: 2, index: 1), .dj),
        Row(.play(entry: nil), .dj), Row(.pause, .dj), Row(.resume, .dj), Row(.seek(positionMs: 1), .dj),
        Row(.skip, .dj), Row(.finish(entry: 1), .dj), Row(.finish(entry: 99), .dj),
        Row(.syncDeck(Deck(queue: [.entry(3)], playback: .stopped)), .dj),
        Row(.updateRoom(RoomUpdate()), .owner), Row(.closeRoom, .owner), Row(.setRole(member: 3, role: .dj), .owner),
        Row(.transferOwnership(member: 2), .owner), Row(.unban(member: 4), .owner),
    ]

    let room = RoomScenario.given(RoomScenario.playing)

    private func expect(_ row: Row, by actor: Actor, granted: Bool) {
        if granted {
            _ = room.after(row.command, by: actor)
        } else {
            room.refuses(row.command, by: actor, with: .forbidden)
        }
    }

    @Test(arguments: rows) func `the owner may do everything`(row: Row) {
        expect(row, by: .ana, granted: true)
    }

    @Test(arguments: rows) func `a DJ may do all but the owner's work`(row: Row) {
        expect(row, by: .bob, granted: row.least != .owner)
    }

    @Test(arguments: rows) func `a guest may vote, vote to skip, rename and leave`(row: Row) {
        expect(row, by: .cyd, granted: row.least == .guest)
    }

    @Test(arguments: rows) func `who is no member may only join`(row: Row) {
        room.refuses(row.command, by: .eve, with: .notMember)
        room.after(.leave, by: .dan).refuses(row.command, by: .dan, with: .notMember)
    }

    @Test(arguments: rows) func `the banned may do nothing`(row: Row) {
        let banned = room.after(.kick(member: 4, ban: true, note: nil))
        banned.refuses(row.command, by: .dan, with: .banned)
        banned.after(.closeRoom).refuses(row.command, by: .dan, with: .banned)
    }

    @Test(arguments: rows) func `in a closed room nobody may do anything`(row: Row) {
        let closed = room.after(.closeRoom)
        for actor in [Actor.ana, .bob, .cyd, .eve, .server] {
            closed.refuses(row.command, by: actor, with: .roomClosed)
        }
    }

    @Test(arguments: [Actor.ana, .bob, .cyd]) func `no member ends a session`(actor: Actor) {
        room.refuses(.endMembership(session: .dan, reason: .expired), by: actor, with: .forbidden)
    }

    @Test(arguments: rows) func `the server may do all that needs no membership`(row: Row) {
        switch row.command {
        case .leave, .rename, .vote, .unvote, .voteSkip, .addTracks, .removeTracks:
            room.refuses(row.command, by: .server, with: .notMember)
        default:
            _ = room.after(row.command, by: .server)
        }
    }

    @Test func `the server joins no room`() {
        room.refuses(.join(name: "Robot"), by: .server, with: .notMember)
    }

    @Test func `the role is checked before the values, the values before existence, existence before the state`() {
        room.refuses(.enqueue(track: 99, index: -1), by: .cyd, with: .forbidden)
        room.refuses(.enqueue(track: 99, index: -1), by: .bob, with: .badRequest)
        room.refuses(.enqueue(track: 99, index: 0), by: .bob, with: .notFound)
        room.refuses(.removeTracks([1, 99]), by: .bob, with: .notFound)
        room.refuses(.removeTracks([1]), by: .bob, with: .conflict)
        room.refuses(.kick(member: 1, ban: false, note: ""), by: .bob, with: .forbidden)
        room.refuses(.kick(member: 9, ban: false, note: ""), by: .bob, with: .badRequest)
    }
}
