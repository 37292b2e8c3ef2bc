import RoomDomain
import RoomTestSupport
import Testing

/// Permissions: every command, by every kind of sender, in every phase of a room.
@Suite struct PermissionTests {
    /// The rights that a command needs.
    enum Need {
        case nothing, guest, dj, owner, server
    }

    /// A command with the lowest rights that it needs.
    struct Row: Sendable, CustomTestStringConvertible {
        let command: RoomCommand
        let need: Need

        init(_ command: RoomCommand, _ need: Need) {
            self.command = command
            self.need = need
        }

        var testDescription: String { "\(command)" }

        /// Whether only a member can give it, so that the server cannot.
        var needsMembership: Bool {
            switch command.kind {
            case .join, .leave, .rename, .vote, .unvote, .voteSkip, .unvoteSkip, .addTracks, .removeTracks,
                .setWaveform, .setDuration, .setMissing:
                true
            case .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .enqueue, .dequeue, .move,
                .play, .pause, .resume, .seek, .skip, .finish, .syncDeck, .countSkipVotes, .replaceOwner,
                .endMembership:
                false
            }
        }
    }

    /// In every phase of an open room, each is granted to every sender with the rights.
    static let rows: [Row] = [
        Row(.join(name: nil), .nothing), Row(.join(name: "X"), .nothing),
        Row(.rename(name: "X"), .guest), Row(.vote(track: 4), .guest), Row(.unvote(track: 1), .guest),
        Row(.leave, .guest), Row(.voteSkip(entry: 1), .guest), Row(.voteSkip(entry: 99), .guest),
        Row(.unvoteSkip(entry: 1), .guest), Row(.unvoteSkip(entry: 99), .guest),
        Row(.kick(member: 4, ban: false, note: nil), .dj), Row(.kick(member: 4, ban: true, note: "loud"), .dj),
        Row(.kick(member: 4, ban: true, durationMs: 1, note: nil), .dj),
        Row(.addTracks([.titled("New")]), .dj), Row(.removeTracks([4]), .dj),
        Row(.setWaveform(track: 1, waveform: Waveform.samples[0]), .dj),
        Row(.setDuration(track: 1, durationMs: 1), .dj), Row(.setMissing([1]), .dj), Row(.setMissing([]), .dj),
        Row(.enqueue(track: 1, index: nil), .dj), Row(.dequeue(entry: 2), .dj), Row(.move(entry: 2, index: 1), .dj),
        Row(.play(entry: nil), .dj), Row(.pause, .dj), Row(.resume, .dj), Row(.seek(positionMs: 1), .dj),
        Row(.pause(entry: 1), .dj), Row(.resume(entry: 1), .dj), Row(.seek(positionMs: 1, entry: 1), .dj),
        Row(.skip, .dj), Row(.skip(entry: 1), .dj), Row(.skip(entry: 99), .dj), Row(.finish(entry: 1), .dj),
        Row(.finish(entry: 99), .dj),
        Row(.syncDeck(Deck(queue: [.entry(3)], playback: .stopped)), .dj),
        Row(.updateRoom(RoomUpdate()), .owner), Row(.updateRoom(moderation), .owner),
        Row(.closeRoom, .owner), Row(.closeRoom(forget: false, note: "late"), .owner),
        Row(.closeRoom(forget: true), .owner),
        Row(.setRole(member: 3, role: .dj), .owner), Row(.setRole(member: 3, role: .guest, note: "tired"), .owner),
        Row(.transferOwnership(member: 2), .owner), Row(.transferOwnership(member: 3, note: "yours"), .owner),
        Row(.kick(members: [3, 4], ban: true, note: nil), .dj),
        Row(.unban(member: 4), .dj), Row(.unban(member: 5, note: "sorry"), .dj), Row(.unban(member: 6), .dj),
        Row(.countSkipVotes, .server), Row(.replaceOwner(1), .server),
        Row(.endMembership(session: .dan, reason: .expired), .server),
    ]

    private static var moderation: RoomUpdate {
        var update = RoomUpdate()
        update.settings.queueLocked = true
        update.settings.slowModeMs = 1_000
        update.settings.ownerAwayMs = 60_000
        update.note = "busy"
        return update
    }

    /// The phases of a room; an entry waits in each.
    enum Phase: CaseIterable {
        case stopped, playing, paused, closed
    }

    /// The kinds of senders.
    enum Asking: CaseIterable {
        case owner, dj, guest, stranger, banned, bannedForATime, server

        var actor: Actor {
            switch self {
            case .owner: .ana
            case .dj: .bob
            case .guest: .cyd
            case .stranger: .eve
            case .banned: .session(.numbered(6), name: "Fay")
            case .bannedForATime: .session(.numbered(7), name: "Gus")
            case .server: .server
            }
        }
    }

    private func room(_ phase: Phase) -> RoomScenario {
        let banned: [RoomEvent] = [
            .memberJoined(member: 5, name: "Fay", role: .guest, session: .numbered(6)),
            .memberLeft(MemberLeft(member: 5, reason: .banned, by: 1)),
            .memberBanned(member: 5, by: 1, session: .numbered(6)),
            .memberJoined(member: 6, name: "Gus", role: .guest, session: .numbered(7)),
            .memberLeft(MemberLeft(member: 6, reason: .banned, by: 1)),
            .memberBanned(member: 6, by: 1, session: .numbered(7), until: .start(plus: 60_000)),
        ]
        return switch phase {
        case .stopped: .given(RoomScenario.waiting + banned)
        case .playing: .given(RoomScenario.playing + banned)
        case .paused: .given(RoomScenario.playing + banned).after(.pause)
        case .closed: .given(RoomScenario.playing + banned).after(.closeRoom)
        }
    }

    /// The expected refusal; nil: it is granted.
    private func refusal(of row: Row, by asking: Asking, in phase: Phase) -> RefusalKind? {
        switch asking {
        case .banned, .bannedForATime: return .banned
        case .server where row.command.kind == .endMembership: return nil
        case .owner, .dj, .guest, .stranger, .server: break
        }
        if phase == .closed, row.command != .closeRoom(forget: true) { return .roomClosed }
        switch asking {
        case .banned, .bannedForATime: return .banned
        case .server: return row.needsMembership ? .notMember : nil
        case .stranger: return row.need == .nothing ? nil : .notMember
        case .owner: return row.need == .server ? .forbidden : nil
        case .dj: return [.server, .owner].contains(row.need) ? .forbidden : nil
        case .guest: return [.server, .owner, .dj].contains(row.need) ? .forbidden : nil
        }
    }

    @Test(arguments: rows, Phase.allCases)
    func `every command is allowed to the right actors in every phase`(row: Row, phase: Phase) {
        for asking in Asking.allCases {
            let room = room(phase)
            if let refusal = refusal(of: row, by: asking, in: phase) {
                room.refuses(row.command, by: asking.actor, with: refusal)
            } else {
                _ = room.after(row.command, by: asking.actor)
            }
        }
    }

    @Test func `every command has a row`() {
        #expect(Set(Self.rows.map(\.command.kind)) == Set(RoomCommand.Kind.allCases))
    }

    @Test(arguments: rows) func `a member who has left or was kicked is a stranger`(row: Row) {
        guard row.need != .nothing else { return }
        let room = room(.playing)
        room.after(.leave, by: .dan).refuses(row.command, by: .dan, with: .notMember)
        room.after(.kick(member: 4, ban: false, note: nil)).refuses(row.command, by: .dan, with: .notMember)
    }

    @Test(arguments: rows) func `a banned session is a stranger after its ban has ended`(row: Row) {
        let (room, gus) = (room(.playing), Asking.bannedForATime.actor)
        if row.need == .nothing {
            _ = room.after(row.command, by: gus, after: 60_000)
        } else {
            room.refuses(row.command, by: gus, after: 60_000, with: .notMember)
        }
        room.refuses(row.command, by: gus, after: 59_999, with: .banned)
    }

    @Test(arguments: [
        (guestsMayAdd: false, isLocked: false), (false, true), (true, false), (true, true),
    ])
    func `guests add if they are allowed to and the queue is not locked, DJs always`(guestsMayAdd: Bool, isLocked: Bool)
    {
        var update = RoomUpdate()
        update.settings.guestsMayAdd = guestsMayAdd
        update.settings.queueLocked = isLocked
        for phase in [Phase.stopped, .playing, .paused] {
            let room = room(phase).after(.updateRoom(update))
            for actor in [Actor.ana, .bob] { _ = room.after(.addTracks([.titled("New")]), by: actor) }
            if guestsMayAdd, !isLocked {
                _ = room.after(.addTracks([.titled("New")]), by: .cyd)
            } else {
                room.refuses(.addTracks([.titled("New")]), by: .cyd, with: .forbidden)
            }
        }
    }

    @Test func `the role is checked before the values, the values before existence, existence before the state`() {
        let room = room(.playing)
        room.refuses(.enqueue(track: 99, index: -1), by: .cyd, with: .forbidden)
        room.refuses(.enqueue(track: 99, index: -1), by: .bob, with: .badRequest)
        room.refuses(.enqueue(track: 99, index: 0), by: .bob, with: .notFound)
        room.refuses(.removeTracks([1, 99]), by: .bob, with: .notFound)
        room.refuses(.removeTracks([1]), by: .bob, with: .conflict)
        room.refuses(.kick(member: 1, ban: false, note: ""), by: .bob, with: .forbidden)
        room.refuses(.kick(member: 9, ban: false, note: ""), by: .bob, with: .badRequest)
        room.refuses(.kick(member: 9, ban: true, durationMs: 0, note: nil), by: .bob, with: .badRequest)
        room.refuses(.setRole(member: 9, role: .dj, note: ""), with: .badRequest)
        room.refuses(.setRole(member: 9, role: .dj, note: ""), by: .bob, with: .forbidden)
        room.refuses(.unban(member: 99, note: ""), with: .badRequest)
        room.refuses(.transferOwnership(member: 99, note: ""), with: .badRequest)
    }
}
