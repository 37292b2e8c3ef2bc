import RoomDomain
import RoomReplica
import RoomWire
import Testing

@Suite struct OverlayTests {
    /// A room in which Ana votes for 1 and 3, the entry 1 plays and the entry 2 waits.
    private static let before: [RoomEvent] = [
        .entryEnqueued(entry: .one, track: .two, index: 0, by: .one),
        .playbackStarted(entry: .one, track: .two, positionMs: 0, at: Timestamp(milliseconds: 1_000), by: .one),
        .entryEnqueued(entry: .two, track: .two, index: 0, by: .two),
    ]
    private var overlay = Overlay()

    private func replica(_ more: [RoomEvent] = []) throws -> Replica {
        let room = ServedRoom.kitchen(Self.before + more)
        var replica = try Replica(receiving: room.snapshot(at: 5))
        _ = try replica.receive(room.delta(6, room.head))
        return replica
    }

    private func command(_ number: Int, _ command: RoomCommand) -> OutboxCommand {
        OutboxCommand(
            number: CommandNumber(rawValue: number), room: .code(.zero), key: "k\(number)", command: command,
            expiresAt: Timestamp(milliseconds: 0), isKept: false)
    }

    private func showing(_ commands: RoomCommand..., at time: Int64? = nil) -> Overlay {
        var overlay = Overlay()
        for (index, given) in commands.enumerated() {
            _ = overlay.add(command(index + 1, given), at: time.map { Timestamp(milliseconds: $0) })
        }
        return overlay
    }

    private func votes(_ track: TrackID, _ votes: Int, _ requestedSeq: Int?, isMine: Bool) -> TrackVotes {
        TrackVotes(track: track, votes: votes, requestedSeq: requestedSeq, isMine: isMine)
    }

    // MARK: What is shown

    @Test func `a vote is shown at once, and one that holds already changes nothing`() throws {
        let replica = try replica()
        let overlay = showing(.vote(track: .two), .vote(track: .one), .unvote(track: .three))
        #expect(overlay.votes(of: .two, in: replica) == votes(.two, 1, nil, isMine: true))
        #expect(overlay.votes(of: .one, in: replica) == votes(.one, 1, 4, isMine: true))
        #expect(overlay.votes(of: .three, in: replica) == votes(.three, 0, nil, isMine: false))
        #expect(overlay.votes(of: .seven, in: replica) == nil)
    }

    @Test func `effects are applied in the order of the calls`() throws {
        let overlay = showing(.vote(track: .two), .unvote(track: .two), .vote(track: .two))
        #expect(try overlay.votes(of: .two, in: replica()) == votes(.two, 1, nil, isMine: true))
        for (number, isVoted) in [(1, false), (2, true), (3, false)] {
            #expect(
                try overlay.isVoted(.two, before: CommandNumber(rawValue: number), in: replica()) == isVoted)
        }
    }

    @Test func `an entry on its way has a number below zero, and spends the track's votes`() throws {
        let replica = try replica()
        let overlay = showing(.enqueue(track: .one, index: 0), .enqueue(track: .three, index: nil))
        #expect(overlay.queue(in: replica).map(\.id.rawValue) == [-1, 2, -2])
        #expect(overlay.queue(in: replica).first?.addedBy == .one)
        #expect(overlay.votes(of: .one, in: replica) == votes(.one, 0, nil, isMine: false))
    }

    @Test func `entries that are on their way can be moved and removed`() throws {
        let overlay = showing(
            .enqueue(track: .one, index: nil), .enqueue(track: .three, index: nil),
            .move(entry: CommandNumber(rawValue: 2).entry, index: 0), .dequeue(entry: .two))
        #expect(try overlay.queue(in: replica()).map(\.id.rawValue) == [-2, -1])
    }

    @Test func `a pause holds the position of the moment at which it was given`() throws {
        let paused = try #require(try showing(.pause, at: 4_500).playback(in: replica()))
        #expect(paused.isPaused && paused.positionMs == 3_500 && paused.at == Timestamp(milliseconds: 4_500))
        let resumed = try #require(try showing(.pause, .resume, at: 4_500).playback(in: replica()))
        #expect(!resumed.isPaused && resumed.positionMs == 3_500)
    }

    @Test func `a jump is shown from the moment at which it was given`() throws {
        let playback = try #require(try showing(.seek(positionMs: 60_000), at: 5_000).playback(in: replica()))
        #expect(playback.positionMs == 60_000 && playback.at == Timestamp(milliseconds: 5_000) && !playback.isPaused)
    }

    @Test func `a vote to skip is counted once, however often it is given`() throws {
        let overlay = showing(.voteSkip(entry: .one), .voteSkip(entry: .one), .voteSkip(entry: .two))
        #expect(try overlay.playback(in: replica())?.skipVotes == 1)
        let counted = try replica([.skipVoteCast(entry: .one, by: .one, skipVotes: 1)])
        #expect(overlay.playback(in: counted)?.skipVotes == 1)
    }

    @Test func `a vote to skip that is taken back is not shown, whoever else votes`() throws {
        let counted = try replica([
            .skipVoteCast(entry: .one, by: .one, skipVotes: 1), .skipVoteCast(entry: .one, by: .two, skipVotes: 2),
        ])
        #expect(counted.hasVotedToSkip)
        let withdrawn = showing(.unvoteSkip(entry: .one), .unvoteSkip(entry: .one), .unvoteSkip(entry: .two))
        #expect(withdrawn.playback(in: counted)?.skipVotes == 1)
        #expect(withdrawn.playback(in: counted)?.skipVoters == [.two])
        #expect(try withdrawn.playback(in: replica())?.skipVotes == 0)
        let again = showing(.unvoteSkip(entry: .one), .voteSkip(entry: .one))
        #expect(again.playback(in: counted)?.skipVotes == 2)
    }

    @Test func `a command for another song is not shown`() throws {
        let before = try replica().playback
        let overlay = showing(.pause(entry: .two), .seek(positionMs: 60_000, entry: .two), at: 4_500)
        #expect(try overlay.playback(in: replica()) == before)
        let meant = try #require(try showing(.pause(entry: .one), at: 4_500).playback(in: replica()))
        #expect(meant.isPaused)
        #expect(try showing(.pause, .resume(entry: .two), at: 4_500).playback(in: replica())?.isPaused == true)
    }

    @Test func `a new name is shown for the own member only`() throws {
        let overlay = showing(.rename(name: "Anna"))
        #expect(try overlay.member(.one, in: replica())?.name == "Anna")
        let other = try replica([.memberJoined(member: .two, name: "Bob", role: .guest, session: .hidden)])
        #expect(overlay.member(.two, in: other)?.name == "Bob")
    }

    @Test func `what comes back soon enough is not shown before`() throws {
        let overlay = showing(.skip, .play(entry: nil), .removeTracks([.one]), .leave)
        #expect(overlay.isEmpty)
    }

    // MARK: How effects end

    /// A vote for track 2, its event and its acknowledgement, in either order: what is shown never goes back.
    @Test(arguments: [true, false])
    func `between answer and event nothing flickers`(answerFirst: Bool) throws {
        let cast = RoomEvent.voteCast(track: .two, by: .one, votes: 1, requestedSeq: 9)
        var replica = try replica()
        var overlay = showing(.vote(track: .two))
        let number = CommandNumber(rawValue: 1)
        var shown: [TrackVotes?] = []
        for step in 0..<2 {
            if (step == 0) == answerFirst {
                _ = overlay.acknowledged(number, seq: 9, entry: nil, reached: replica.position.seq)
            } else {
                _ = try replica.take([.known(RecordedEvent(seq: 9, at: Timestamp(milliseconds: 9), event: cast))])
                _ = overlay.reached(9)
            }
            shown.append(overlay.votes(of: .two, in: replica))
        }
        #expect(shown.map { $0?.votes } == [1, 1])
        #expect(shown.map { $0?.isMine } == [true, true])
        #expect(overlay.isEmpty)
    }

    @Test(arguments: [true, false])
    func `an entry is never shown twice`(answerFirst: Bool) throws {
        let entered = RoomEvent.entryEnqueued(entry: EntryID(rawValue: 3), track: .one, index: 1, by: .one)
        let event = ShownEvent.known(RecordedEvent(seq: 9, at: Timestamp(milliseconds: 9), event: entered))
        var replica = try replica()
        var overlay = showing(.enqueue(track: .one, index: nil))
        var shown: [[Int]] = []
        for step in 0..<2 {
            if (step == 0) == answerFirst {
                _ = overlay.acknowledged(
                    CommandNumber(rawValue: 1), seq: 9, entry: EntryID(rawValue: 3), reached: replica.position.seq)
            } else {
                overlay.sees(event, of: replica.me?.member)
                _ = try replica.take([event])
                _ = overlay.reached(9)
            }
            shown.append(overlay.queue(in: replica).map(\.id.rawValue))
        }
        #expect(shown == (answerFirst ? [[2, -1], [2, 3]] : [[2, 3], [2, 3]]))
        #expect(overlay.isEmpty)
    }

    @Test func `an effect outlasts its answer until the replica has reached it`() throws {
        var overlay = showing(.vote(track: .two))
        let number = CommandNumber(rawValue: 1)
        #expect(overlay.acknowledged(number, seq: 9, entry: nil, reached: 8) == Overlay.Touched())
        #expect(try overlay.votes(of: .two, in: replica())?.isMine == true)
        #expect(overlay.reached(8) == Overlay.Touched())
        #expect(overlay.reached(9).votes == [.two])
        #expect(try overlay.votes(of: .two, in: replica())?.isMine == false)
    }

    @Test func `a refusal takes the effect back and says what it touched`() throws {
        var overlay = showing(.vote(track: .two), .pause)
        #expect(overlay.remove(CommandNumber(rawValue: 1)).votes == [.two])
        #expect(overlay.remove(CommandNumber(rawValue: 2)).playback)
        #expect(overlay.remove(CommandNumber(rawValue: 3)) == Overlay.Touched())
        #expect(overlay.isEmpty)
    }

    @Test func `effects that end at once say all that they touched`() throws {
        var overlay = showing(.enqueue(track: .two, index: 0), .rename(name: "Anna"), .pause)
        for number in 1...3 {
            _ = overlay.acknowledged(CommandNumber(rawValue: number), seq: 9, entry: nil, reached: 8)
        }
        #expect(overlay.reached(9) == Overlay.Touched(votes: [.two], queue: true, playback: true, name: true))
    }

    @Test func `another epoch ends the effects of what was acknowledged in the one before`() throws {
        var overlay = showing(.vote(track: .two), .unvote(track: .one))
        _ = overlay.acknowledged(CommandNumber(rawValue: 1), seq: 900, entry: nil, reached: 8)
        overlay.began()
        #expect(try overlay.votes(of: .two, in: replica())?.isMine == false)
        #expect(try overlay.votes(of: .one, in: replica())?.isMine == false, "it will be sent")
    }

    // MARK: Changes

    @Test func `changes are told as they are shown, each part once`() throws {
        let replica = try replica()
        let overlay = showing(.vote(track: .two), .dequeue(entry: .two))
        let confirmed: [RoomChange] = [
            .votes(votes(.two, 4, 9, isMine: false)), .queue(replica.queue), .memberLeft(.two),
        ]
        #expect(
            overlay.shown(confirmed, touched: Overlay.Touched(votes: [.two, .one], queue: true), in: replica)
                == [
                    .votes(votes(.two, 5, 9, isMine: true)), .queue([]), .memberLeft(.two),
                    .votes(votes(.one, 1, 4, isMine: true)),
                ])
    }

    @Test func `without effects, changes are told as they are`() throws {
        let changes: [RoomChange] = [.memberLeft(.two), .playback(nil)]
        #expect(try Overlay().shown(changes, in: replica()) == changes)
    }
}
