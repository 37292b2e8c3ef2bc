import RoomDomain

extension RandomRoom {
    /// The rules of a room's settings, checked independently for every granted command.
    enum Rules {
        /// Checks a granted command.
        static func check(
            _ command: RoomCommand, by actor: Actor, in room: RoomState, at now: Timestamp
        ) throws {
            guard case .session(let session, _) = actor else { return }
            // A room's time never goes back.
            let now = max(now, room.lastEventAt)
            let member = room.memberOfSession[session].flatMap { room.members[$0] }
            if let ban = room.bans[session], ban.until.map({ now < $0 }) ?? true {
                throw BrokenRoom(description: "\(command) by who is banned")
            }
            switch command {
            case .join: return
            case .addTracks where member?.role == .guest && !room.settings.guestsMayAdd:
                throw BrokenRoom(description: "a guest adds tracks")
            case .addTracks where member?.role == .guest && room.settings.queueLocked:
                throw BrokenRoom(description: "a guest adds tracks to a locked queue")
            case .addTracks where member?.role == .guest:
                let last = room.additions[session]?.milliseconds ?? .min / 2
                guard now.milliseconds - last >= room.settings.slowModeMs else {
                    throw BrokenRoom(description: "a guest adds tracks \(now.milliseconds - last) ms after others")
                }
            case .vote(let track)
            where room.voters[track]?.contains(member?.id ?? 0) != true
                && (room.onAir?.track == track || room.queue.contains { $0.track == track }):
                throw BrokenRoom(description: "a vote for track \(track.rawValue), which is on air or waits")
            case .enqueue:
                let waiting = room.queue.count { $0.addedBy == member?.id }
                let most = room.settings.maxWaitingPerMember
                if most > 0, waiting >= most { throw BrokenRoom(description: "\(waiting + 1) waiting of a member") }
            default: break
            }
            guard member != nil else { throw BrokenRoom(description: "\(command) by who is no member") }
        }

        /// Checks an event that the room decided by itself.
        static func check(_ event: RoomEvent, in room: RoomState) throws {
            guard case .entryEnqueued(_, let track, _, _, let why?) = event else { return }
            if room.settings.queueLocked { throw BrokenRoom(description: "a locked queue fills itself") }
            if room.tracks[track]?.isMissing == true {
                throw BrokenRoom(description: "track \(track.rawValue) is chosen, and the deck lacks it")
            }
            let least = room.settings.repeatAfterPlays
            if let played = room.tracks[track]?.lastPlay, room.plays - played < least {
                throw BrokenRoom(description: "track \(track.rawValue) is chosen before it has rested")
            }
            switch why.rule {
            case .votes:
                let rested = room.requestOrder().first { id in
                    room.tracks[id]?.isMissing == false
                        && room.tracks[id]?.lastPlay.map { room.plays - $0 >= least } ?? true
                }
                if room.settings.queueMode != .votes || rested != track {
                    throw BrokenRoom(description: "track \(track.rawValue) is not the top request")
                }
            case .fair:
                guard room.settings.queueMode == .fair, let turnOf = why.turnOf,
                    room.voters[track]?.contains(turnOf) == true
                else { throw BrokenRoom(description: "track \(track.rawValue) is not asked for by whose turn it is") }
            case .repeatAfterPlays:
                throw BrokenRoom(description: "track \(track.rawValue) is chosen by a rule that chooses nothing")
            }
        }
    }
}
