import FoundationEssentials
import RoomDomain
import RoomReplica
import RoomService
import RoomWire
import SimulatedTime

/// What must hold for an app with the client's machine.
extension World {
    /// Complains about a vote that its person gave and does not see, although it is under way or was carried out and has
    /// not come back.
    func checkShown(by app: SimulatedApp) {
        guard let machine = app.machine else { return }
        var seen: Set<[Int]> = []
        for posted in app.posted.reversed() {
            guard let room = machine.room(.id(posted.room)), let replica = room.replica,
                let place = app.followed.firstIndex(of: posted.room)
            else { continue }
            switch posted.command {
            // Any of these may take a vote away, or make it another member's.
            case .enqueue, .leave, .join, .removeTracks, .syncDeck: return
            case .vote(let track), .unvote(let track):
                guard seen.insert([place, track.rawValue]).inserted, case .vote = posted.command,
                    isOnItsWay(posted, of: app, reached: replica.position), let votes = room.votes(of: track)
                else { continue }
                if !votes.isMine {
                    truth.complain("app \(app.number) does not show its vote \(posted.number.rawValue) for \(track)")
                }
            case .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
                .setWaveform, .setDuration, .setMissing, .dequeue, .move, .play, .pause, .resume, .seek, .skip, .finish,
                .voteSkip, .unvoteSkip, .countSkipVotes, .replaceOwner, .endMembership:
                continue
            }
        }
    }

    /// Whether a command was given in this life of the program, and is unanswered, or acknowledged ahead of the replica.
    ///
    /// An acknowledgement may overtake the beginning of its epoch, and then nobody can tell that it is of that one: what
    /// was done is shown when its event comes.
    private func isOnItsWay(_ posted: SimulatedApp.Posted, of app: SimulatedApp, reached: Position) -> Bool {
        guard posted.life == app.life, posted.number.rawValue > 0 else { return false }
        switch posted.answer {
        case nil: return app.machine?.room(.id(posted.room))?.pending.contains { $0.number == posted.number } ?? false
        case .acknowledged(let seq, _): return reached.seq < seq && reached.epoch == posted.answeredIn
        case .refused, .superseded, .expired, .outcomeUnknown: return false
        }
    }

    /// The first thing in which an app does not agree with the log yet; nil if there is none.
    func missingAgreement(of app: SimulatedApp) -> String? {
        guard let machine = app.machine else { return "app \(app.number) does not run" }
        for id in app.followed {
            guard let room = machine.room(.id(id)) else { return "app \(app.number) does not follow \(id)" }
            if case .ended = room.phase {
                if isBanned(app, from: id) { continue }
                follow(id, app)
                return "app \(app.number) follows \(id) again"
            }
            if !room.pending.isEmpty { return "app \(app.number) waits for \(room.pending[0])" }
            guard let replica = room.replica, room.phase == .live else {
                return "app \(app.number) is \(room.phase) in \(id)"
            }
            if replica.position.epoch != truth.room(id)?.epoch { return "app \(app.number) has another log of \(id)" }
            if replica.position.seq != truth.head(of: id) {
                return "app \(app.number) has \(replica.position.seq) of \(truth.head(of: id)) of \(id)"
            }
        }
        return app.outbox.isEmpty ? nil : "app \(app.number) keeps \(app.outbox.count) commands"
    }

    private func isBanned(_ app: SimulatedApp, from room: RoomID) -> Bool {
        let now = Timestamp(milliseconds: Int64(SimulatedNode.beginning) + scheduler.now / 1_000_000)
        return truth.roomState(room).refusal(of: app.session.id, at: now) != nil
    }

    /// Compares an app with the log, at the end, and ends it.
    func compare(_ app: SimulatedApp) {
        for id in app.followed {
            guard let room = app.machine?.room(.id(id)), let replica = room.replica, room.phase == .live else {
                continue
            }
            let state = truth.roomState(id)
            if StateJSON.encode(replica.state) != StateJSON.encode(state) {
                truth.complain("app \(app.number) has another \(id) than the log")
            }
            if room.shown != replica.state { truth.complain("app \(app.number) shows in \(id) what is not on its way") }
            if replica.you != You(of: state, for: app.session.id), replica.me != nil || !hasLostJoin(app, id) {
                truth.complain("app \(app.number) takes itself for another member of \(id)")
            }
        }
        for place in app.posted.indices { compareOutcome(app, place) }
        for room in app.followed { compareOrder(app, room) }
        hangUp(app)
        app.machine = nil
    }

    /// Whether the program has joined a room and was not told, or only in an earlier life: an event does not say whose
    /// it is.
    private func hasLostJoin(_ app: SimulatedApp, _ room: RoomID) -> Bool {
        app.posted.contains { posted in
            guard case .join = posted.command, posted.room == room, posted.firstSent != nil else { return false }
            switch posted.answer {
            case .outcomeUnknown: return true
            case nil: return posted.life < app.life
            case .acknowledged, .refused, .superseded, .expired: return false
            }
        }
    }

    /// Complains about a command that was carried out other than its person was told.
    private func compareOutcome(_ app: SimulatedApp, _ place: Int) {
        let posted = app.posted[place]
        if posted.isKept, posted.firstSent != nil, posted.answer == nil, !posted.isForgotten {
            truth.complain("app \(app.number) has sent \(posted.number.rawValue), and knows nothing of it any more")
        }
        guard let mark = posted.mark else { return }
        let times = truth.mark(mark)
        let expected: ClosedRange<Int>
        switch posted.answer {
        case .acknowledged: expected = 1...1
        case .refused, .superseded, .expired: expected = 0...0
        // The app crashed before it was told, or while the command was in no store.
        case .outcomeUnknown, nil: expected = 0...1
        }
        if !expected.contains(times) {
            truth.complain(
                "app \(app.number) was told of \(posted.number.rawValue): \(String(describing: posted.answer)), and it is "
                    + "in the log \(times) times")
        }
    }

    /// Complains about commands that were carried out in another order than they were given in.
    ///
    /// A command comes behind a later one without fault if the room has refused it before that: a refusal puts nothing
    /// off, and an app that was not told of it sends the command again.
    private func compareOrder(_ app: SimulatedApp, _ room: RoomID) {
        var done: [(posted: SimulatedApp.Posted, seq: Int)] = []
        for later in app.posted where later.room == room && later.mark != nil {
            guard case .acknowledged(let seq, _)? = later.answer else { continue }
            for earlier in done where seq <= earlier.seq && !wasRefused(earlier.posted, of: app, before: seq) {
                truth.complain(
                    "app \(app.number) gave \(earlier.posted.number.rawValue) before \(later.number.rawValue), and "
                        + "they are \(earlier.seq) and \(seq)")
            }
            done.append((later, seq))
        }
    }

    /// Whether a room may have refused a command before an event: no server says otherwise, and a state does refuse it.
    private func wasRefused(_ posted: SimulatedApp.Posted, of app: SimulatedApp, before seq: Int) -> Bool {
        guard posted.possibleRefusals > 0, let first = posted.firstSent else { return false }
        return truth.refuses(posted.command, by: app.actor, in: posted.room, from: first, before: seq)
    }
}
