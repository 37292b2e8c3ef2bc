import RoomDomain
import RoomTestSupport
import Testing

/// Bans that end by themselves, a locked queue, slow mode, owners who are away, and reasons.
@Suite struct ModerationTests {
    let people = RoomScenario.given(RoomScenario.people)

    private func settings(_ change: (inout SettingsUpdate) -> Void) -> RoomCommand {
        var update = RoomUpdate()
        change(&update.settings)
        return .updateRoom(update)
    }

    // MARK: - Bans for a time

    @Test func `a ban for a time says when it ends`() {
        people.when(
            .kick(member: 3, ban: true, durationMs: 1_000, note: " loud "), by: .bob, after: 5,
            then: .memberLeft(MemberLeft(member: 3, reason: .banned, by: 2, note: "loud")),
            .memberBanned(member: 3, by: 2, session: .cyd, until: .start(plus: 1_005), note: "loud"))
    }

    @Test func `a ban ends by itself, and the log records it when the session comes back`() {
        let banned = people.after(.kick(member: 3, ban: true, durationMs: 1_000, note: nil))
        banned.refuses(.join(name: nil), by: .cyd, after: 999, with: .banned)
        banned.when(
            .join(name: nil), by: .cyd, after: 1_000, then: .memberUnbanned(member: 3, by: nil),
            .memberJoined(member: 5, name: "Cyd", role: .guest, session: .cyd))
    }

    @Test func `a refused session is told how long the ban lasts, if it ends`() {
        let banned = people.after(.kick(member: 3, ban: true, durationMs: 1_000, note: nil))
            .after(.kick(member: 4, ban: true, note: nil)).room
        #expect(throws: RoomRefusal.banned(retryAfterMs: 600)) {
            try banned.decide(.join(name: nil), by: .cyd, at: .start(plus: 400))
        }
        #expect(throws: RoomRefusal.banned(retryAfterMs: nil)) {
            try banned.decide(.join(name: nil), by: .dan, at: .start(plus: 400))
        }
        // If the clock is behind the room's last event, that event's time counts.
        #expect(banned.refusal(of: .cyd, at: .start(plus: -9)) == .banned(retryAfterMs: 1_000))
        #expect(banned.refusal(of: .cyd, at: .start(plus: 1_000)) == nil)
        #expect(banned.refusal(of: .dan, at: Timestamp(milliseconds: .max)) == .banned)
        #expect(banned.refusal(of: .ana, at: .start(plus: 0)) == nil)
    }

    @Test func `a ban may be lifted before its end and after it`() {
        let banned = people.after(.kick(member: 3, ban: true, durationMs: 1_000, note: nil))
        for milliseconds: Int64 in [1, 2_000] {
            banned.when(
                .unban(member: 3, note: "sorry"), after: milliseconds,
                then: .memberUnbanned(member: 3, by: 1, note: "sorry")
            )
            .changesNothing(.unban(member: 3))
            .when(.join(name: nil), by: .cyd, then: .memberJoined(member: 5, name: "Cyd", role: .guest, session: .cyd))
        }
    }

    @Test func `if the list of bans is full, the oldest one that has ended makes room for one more`() {
        func banned(_ number: Int, until milliseconds: Int64? = nil) -> RoomEvent {
            .memberBanned(
                member: MemberID(rawValue: number), by: 1, session: .numbered(number),
                until: milliseconds.map { .start(plus: $0) })
        }
        let scenario = RoomScenario.given(
            RoomScenario.people + (5..<RoomLimits.bans + 3).map { banned($0) }
                + [banned(20_001, until: 2_000), banned(20_000, until: 1_000)])
        let kick = RoomCommand.kick(member: 3, ban: true, note: nil)
        scenario.refuses(kick, after: 999, with: .limitReached)
        scenario.refuses(.kick(member: 9, ban: true, note: nil), after: 2_000, with: .notFound)
        scenario.when(
            kick, after: 2_000, then: .memberLeft(MemberLeft(member: 3, reason: .banned, by: 1)),
            .memberUnbanned(member: 20_000, by: nil), .memberBanned(member: 3, by: 1, session: .cyd))
    }

    @Test func `a full room refuses a session whose ban has ended, and records nothing of the ban`() {
        var room = people.after(.kick(member: 3, ban: true, durationMs: 1, note: nil)).room
        for number in 5...RoomLimits.members + 1 {
            let joined = RoomEvent.memberJoined(
                member: MemberID(rawValue: number), name: "N", role: .guest, session: .numbered(number + 100))
            room.evolve(RecordedEvent(seq: room.seq + 1, at: room.lastEventAt, event: joined))
        }
        #expect(throws: RoomRefusal.limitReached("a room has at most 10000 members")) {
            try room.decide(.join(name: nil), by: .cyd, at: .start(plus: 9))
        }
    }

    @Test(arguments: [0, -1, 31_536_000_001, Int64.max, Int64.min])
    func `a ban lasts a millisecond to a year`(durationMs: Int64) {
        people.refuses(.kick(member: 3, ban: true, durationMs: durationMs, note: nil), with: .badRequest)
    }

    @Test func `only a ban has a duration`() {
        people.refuses(.kick(member: 3, ban: false, durationMs: 1_000, note: nil), with: .badRequest)
        _ = people.after(.kick(member: 3, ban: true, durationMs: 31_536_000_000, note: nil))
    }

    // MARK: - A locked queue

    /// Ana's room that plays by votes and whose guests may add tracks, with one song on air and one requested.
    private var votes: RoomScenario {
        RoomScenario.given(RoomScenario.songs)
            .after(
                settings {
                    $0.queueMode = .votes
                    $0.guestsMayAdd = true
                }
            )
            .after(.enqueue(track: 1, index: nil)).after(.play(entry: nil)).after(.vote(track: 2), by: .cyd)
    }

    @Test func `while the queue is locked the room chooses nothing`() {
        let locked = votes.after(settings { $0.queueLocked = true })
        let finished = RoomEvent.entryFinished(
            entry: 1, track: 1, reason: .skipped, startedAt: RoomScenario.start, playedMs: 9, by: 1)
        let silent = locked.when(.skip, after: 9, then: finished, .playbackStopped(by: 1))
        // Unlocking while nothing is on air starts nothing, as with setting a mode.
        let unlocked = silent.after(settings { $0.queueLocked = false })
        #expect(unlocked.room.onAir == nil)
        #expect(unlocked.room.queue.isEmpty)
        // The next song that ends is followed by the requested one.
        let next = unlocked.after(.enqueue(track: 3, index: nil)).after(.play(entry: nil)).after(.skip)
        #expect(next.room.onAir?.track == 2)
    }

    @Test func `while the queue is locked guests vote, and DJs fill it`() {
        let locked = votes.after(settings { $0.queueLocked = true })
        _ = locked.after(.vote(track: 3), by: .cyd).after(.unvote(track: 2), by: .cyd)
            .after(.enqueue(track: 2, index: nil), by: .bob).after(.skip, by: .bob)
        #expect(throws: RoomRefusal.forbidden("the queue is locked: only the owner or a DJ may add tracks")) {
            try locked.room.decide(.addTracks([.titled("x")]), by: .cyd, at: RoomScenario.start)
        }
    }

    // MARK: - Slow mode

    private var slow: RoomScenario {
        people.after(
            settings {
                $0.guestsMayAdd = true
                $0.slowModeMs = 1_000
            })
    }

    private func wait(_ room: RoomScenario, _ actor: Actor, after milliseconds: Int64) -> Int64? {
        let now = Timestamp(milliseconds: room.room.lastEventAt.milliseconds + milliseconds)
        do throws(RoomRefusal) {
            _ = try room.room.decide(.addTracks([.titled("x")]), by: actor, at: now)
            return nil
        } catch {
            guard case .rateLimited(_, let wait) = error else { return -1 }
            return wait
        }
    }

    @Test func `slow mode limits each guest by itself`() {
        let added = slow.after(.addTracks([.titled("a"), .titled("b")]), by: .cyd)
        #expect(wait(added, .cyd, after: 0) == 1_000)
        #expect(wait(added, .cyd, after: 999) == 1)
        #expect(wait(added, .cyd, after: 1_000) == nil)
        #expect(wait(added, .dan, after: 0) == nil)
    }

    @Test func `a refused command does not count`() {
        let added = slow.after(.addTracks([.titled("a")]), by: .cyd)
        added.refuses(.addTracks([.titled("b")]), by: .cyd, after: 500, with: .rateLimited)
        #expect(wait(added, .cyd, after: 1_000) == nil)
    }

    @Test func `DJs and the owner add as they like`() {
        for actor in [Actor.ana, .bob] {
            let added = slow.after(.addTracks([.titled("a")]), by: actor)
            #expect(wait(added, actor, after: 0) == nil)
            #expect(added.room.additions.isEmpty)
        }
    }

    @Test func `leaving and coming back does not shorten the wait`() {
        let back = slow.after(.addTracks([.titled("a")]), by: .cyd).after(.leave, by: .cyd)
            .after(.join(name: nil), by: .cyd)
        #expect(wait(back, .cyd, after: 400) == 600)
    }

    @Test func `slow mode may be set, changed and ended between two additions`() {
        let added = people.after(settings { $0.guestsMayAdd = true }).after(.addTracks([.titled("a")]), by: .cyd)
        #expect(wait(added, .cyd, after: 0) == nil)
        let slowed = added.after(settings { $0.slowModeMs = 3_600_000 })
        #expect(wait(slowed, .cyd, after: 1) == 3_599_999)
        #expect(wait(slowed.after(settings { $0.slowModeMs = 0 }), .cyd, after: 1) == nil)
    }

    @Test func `values are checked before the wait`() {
        let added = slow.after(.addTracks([.titled("a")]), by: .cyd)
        added.refuses(.addTracks([.titled("")]), by: .cyd, with: .badRequest)
        added.refuses(.addTracks([]), by: .cyd, with: .badRequest)
    }

    @Test func `times too old for slow mode are not kept`() {
        let added = slow.after(.addTracks([.titled("a")]), by: .cyd)
        #expect(Set(added.room.additions.keys) == [.cyd])
        #expect(added.after(.addTracks([.titled("b")]), by: .dan, after: 3_599_999).room.additions.count == 2)
        let later = added.after(.addTracks([.titled("b")]), by: .dan, after: 3_600_000)
        #expect(Set(later.room.additions.keys) == [.dan])
    }

    // MARK: - An owner who is away

    private var lonely: RoomScenario { people.after(settings { $0.ownerAwayMs = 60_000 }) }

    @Test func `the DJ who is online becomes the owner, and the owner a DJ`() {
        let replaced = lonely.when(
            .replaceOwner(1), by: .server, online: [2, 3],
            then: .roleChanged(member: 2, role: .owner, note: "ownerAway"),
            .roleChanged(member: 1, role: .dj, note: "ownerAway"))
        // Another server has noticed as well.
        replaced.changesNothing(.replaceOwner(1), by: .server, online: [2, 3])
    }

    @Test func `without a DJ who is online, it is the member who is online and stands longest`() {
        lonely.when(
            .replaceOwner(1), by: .server, online: [4, 3],
            then: .roleChanged(member: 3, role: .owner, note: "ownerAway"),
            .roleChanged(member: 1, role: .dj, note: "ownerAway"))
        lonely.after(.setRole(member: 4, role: .dj)).when(
            .replaceOwner(1), by: .server, online: [4, 3],
            then: .roleChanged(member: 4, role: .owner, note: "ownerAway"),
            .roleChanged(member: 1, role: .dj, note: "ownerAway"))
    }

    @Test func `an owner stays who is online, has no possible heir, or is allowed to be away`() {
        lonely.changesNothing(.replaceOwner(1), by: .server, online: [1, 2, 3])
        lonely.changesNothing(.replaceOwner(1), by: .server, online: [])
        lonely.changesNothing(.replaceOwner(1), by: .server, online: [99])
        lonely.changesNothing(.replaceOwner(2), by: .server, online: [3])
        lonely.changesNothing(.replaceOwner(99), by: .server, online: [3])
        people.changesNothing(.replaceOwner(1), by: .server, online: [2])
    }

    // MARK: - Reasons

    @Test func `events name the member who acted, and the reason`() {
        people.when(
            .setRole(member: 3, role: .dj, note: " good taste "),
            then: .roleChanged(member: 3, role: .dj, by: 1, note: "good taste"))
        people.when(
            .transferOwnership(member: 2, note: "asleep"),
            then: .roleChanged(member: 2, role: .owner, by: 1, note: "asleep"),
            .roleChanged(member: 1, role: .dj, by: 1, note: "asleep"))
        people.when(.closeRoom(forget: false, note: "late"), then: .roomClosed(forget: false, by: 1, note: "late"))
        var update = RoomUpdate()
        update.visibility = .unlisted
        update.note = "too many"
        var changes = RoomChanges()
        changes.visibility = .unlisted
        changes.by = 1
        changes.note = "too many"
        people.when(.updateRoom(update), then: .roomUpdated(changes)).changesNothing(.updateRoom(update))
        people.when(.closeRoom, by: .server, then: .roomClosed)
    }

    @Test(arguments: ["", " ", "a\u{0}", "a\nb", String(repeating: "x", count: 201)])
    func `a reason that breaks the rule is refused`(note: String) {
        var update = RoomUpdate()
        update.note = note
        for command in [
            RoomCommand.kick(member: 3, ban: false, note: note), .kick(member: 3, ban: true, note: note),
            .unban(member: 3, note: note), .setRole(member: 3, role: .dj, note: note),
            .transferOwnership(member: 3, note: note), .closeRoom(forget: false, note: note), .updateRoom(update),
        ] {
            people.refuses(command, with: .badRequest)
        }
    }

    @Test func `a reason may have 200 characters`() {
        let note = String(repeating: "🎹", count: 200)
        people.when(
            .kick(member: 3, ban: false, note: note), by: .bob,
            then: .memberLeft(MemberLeft(member: 3, reason: .kicked, by: 2, note: note)))
    }

    @Test func `a banned session is told the reason of its ban, until the room is forgotten`() {
        func refusal(_ scenario: RoomScenario) -> RoomRefusal? {
            scenario.room.refusal(of: .cyd, at: scenario.room.lastEventAt)
        }
        let people = RoomScenario.given(RoomScenario.people)
        let banned = people.after(.kick(member: 3, ban: true, note: " too loud "))
        #expect(refusal(banned) == .banned(retryAfterMs: nil, reason: "too loud"))
        let forATime = people.after(.kick(member: 3, ban: true, durationMs: 60_000, note: "too loud"))
        #expect(refusal(forATime) == .banned(retryAfterMs: 60_000, reason: "too loud"))
        #expect(refusal(people.after(.kick(member: 3, ban: true, note: nil))) == .banned)
        #expect(refusal(banned.after(.closeRoom)) == .banned(retryAfterMs: nil, reason: "too loud"))
        #expect(refusal(banned.after(.closeRoom(forget: true))) == .banned)
    }
}
