import RandomTestSupport
import RoomDomain
import RoomWire

/// Random events and messages of servers.
extension RandomValues {
    mutating func event(_ kind: RoomEvent.Kind) -> RoomEvent {
        switch kind {
        case .roomCreated:
            .roomCreated(
                RoomCreated(
                    id: room(), code: code(), name: text(), location: rounded(), visibility: choice(),
                    settings: settings()))
        case .memberJoined: .memberJoined(member: id(), name: text(), role: choice(), session: session())
        case .memberLeft: .memberLeft(leaving())
        case .memberRenamed: .memberRenamed(member: id(), name: text())
        case .roomUpdated: .roomUpdated(changes())
        case .roomClosed: .roomClosed(forget: bool(), by: maybe { $0.id() }, note: maybe { $0.text() })
        case .roleChanged:
            .roleChanged(member: id(), role: choice(), by: maybe { $0.id() }, note: maybe { $0.text() })
        case .memberBanned:
            .memberBanned(
                member: id(), by: maybe { $0.id() }, session: session(), until: maybe { $0.instant() },
                note: maybe { $0.text() }, role: choice())
        case .memberUnbanned: .memberUnbanned(member: id(), by: maybe { $0.id() }, note: maybe { $0.text() })
        case .tracksAdded:
            .tracksAdded(tracks: several { NumberedTrack(id: $0.id(), info: $0.info()) }, by: id())
        case .tracksRemoved: .tracksRemoved(tracks: several { $0.id() }, by: id())
        case .waveformSet: .waveformSet(track: id(), waveform: waveform().name, by: id())
        case .durationSet: .durationSet(track: id(), durationMs: integer(), by: id())
        case .missingSet: .missingSet(tracks: several { $0.id() }, by: id())
        case .voteCast: .voteCast(track: id(), by: id(), votes: count(), requestedSeq: count())
        case .voteWithdrawn: .voteWithdrawn(track: id(), by: id(), votes: count(), requestedSeq: maybe { $0.count() })
        case .votesCleared: .votesCleared(track: id())
        case .entryEnqueued:
            .entryEnqueued(entry: id(), track: id(), index: count(), by: maybe { $0.id() }, why: maybe { $0.reason() })
        case .entryRemoved: .entryRemoved(entry: id(), by: maybe { $0.id() }, why: maybe { $0.reason() })
        case .entryMoved: .entryMoved(entry: id(), index: count(), by: maybe { $0.id() })
        case .playbackStarted:
            .playbackStarted(
                entry: id(), track: id(), positionMs: integer(), at: instant(), by: maybe { $0.id() },
                startedAt: maybe { $0.instant() }, playedMs: maybe { $0.integer() })
        case .playbackPaused:
            .playbackPaused(
                positionMs: integer(), at: instant(), by: maybe { $0.id() }, playedMs: maybe { $0.integer() })
        case .playbackResumed:
            .playbackResumed(
                positionMs: integer(), at: instant(), by: maybe { $0.id() }, playedMs: maybe { $0.integer() })
        case .playbackSeeked:
            .playbackSeeked(
                positionMs: integer(), at: instant(), by: maybe { $0.id() }, playedMs: maybe { $0.integer() })
        case .playbackStopped: .playbackStopped(by: maybe { $0.id() })
        case .skipVoteCast: .skipVoteCast(entry: id(), by: id(), skipVotes: count())
        case .skipVoteWithdrawn: .skipVoteWithdrawn(entry: id(), by: id(), skipVotes: count())
        case .entryFinished:
            .entryFinished(
                entry: id(), track: id(), reason: choice(), startedAt: instant(), playedMs: integer(),
                by: maybe { $0.id() }, endedAt: maybe { $0.instant() }, isMissing: bool())
        }
    }

    private mutating func leaving() -> MemberLeft {
        MemberLeft(
            member: id(), reason: choice(), by: maybe { $0.id() }, note: maybe { $0.text() },
            votes: several { values in
                .init(track: values.id(), votes: values.count(), requestedSeq: values.maybe { $0.count() })
            }, skipVotes: maybe { $0.count() })
    }

    private mutating func changes() -> RoomChanges {
        var changes = RoomChanges()
        changes.name = maybe { $0.text() }
        changes.location = rounded()
        changes.locationCleared = bool()
        changes.visibility = maybe { $0.choice() }
        changes.settings = maybe { $0.settings() }
        changes.by = maybe { $0.id() }
        changes.note = maybe { $0.text() }
        return changes
    }

    private mutating func reason() -> ChoiceReason {
        ChoiceReason(rule: choice(), rank: several { $0.count() }, turnOf: maybe { $0.id() })
    }

    /// Events as clients are shown them, with consecutive numbers.
    mutating func shownEvents(atLeast least: Int) -> [ShownEvent] {
        let first = seq()
        return (0..<least + several { $0.bool() }.count).map { offset in
            if random.once(in: 5) { return .unknown(type: "later", seq: first + offset, at: instant()) }
            return .known(RecordedEvent(seq: first + offset, at: instant(), event: event(choice()).withoutSessions))
        }
    }

    mutating func deck() -> ShownDeck? { maybe { ShownDeck(member: $0.id(), isHere: $0.bool()) } }

    mutating func errorName() -> ErrorName { ErrorName(choice(ErrorCode.self)) }

    mutating func received(_ kind: ServerMessage.Kind) -> ServerMessage.Received {
        let re: Int64? = maybe { $0.integer() }
        switch kind {
        case .welcome:
            return .welcome(
                .init(
                    session: session(), name: text(), version: text(), node: text(), beatMs: count(), time: instant()))
        case .snapshot:
            let collapsed: ClosedRange<Int>? = maybe { values in
                let seq = values.seq()
                return seq...seq + values.seq()
            }
            return .snapshot(
                .init(
                    re: re, position: position(), keyed: maybe { $0.count() }, time: instant(), state: state(),
                    you: you(),
                    presence: presence(), deck: deck(), collapsed: collapsed))
        case .resumed:
            return .resumed(
                .init(
                    re: re, room: room(), position: position(), keyed: maybe { $0.count() }, you: you(),
                    presence: presence(), deck: deck()))
        case .delta: return .delta(room: room(), events: shownEvents(atLeast: 1))
        case .presence:
            return .presence(
                room: room(), online: count(),
                change: maybe { values in .init(on: values.several { $0.id() }, off: values.several { $0.id() }) })
        case .reaction: return .reaction(room: room(), from: id(), emoji: text())
        case .signal: return .signal(room: room(), from: id(), data: relayed())
        case .deck: return .deck(room: room(), deck())
        case .ok: return .ok(re: re)
        case .ack: return .ack(re: re, seq: count(), keyed: maybe { $0.count() }, result: result())
        case .error:
            return .error(
                re: re, code: errorName(), message: text(), retryAfterMs: maybe { $0.count() },
                reason: maybe { $0.text() })
        case .ended: return .ended(room: room(), code: errorName())
        case .time: return .time(re: re, t1: number(), t2: number(), t3: number())
        case .nearby: return .nearby(re: integer(), rooms: several { $0.summary() })
        case .nearbyDelta:
            return .nearbyDelta(
                sub: integer(), entered: several { $0.summary() }, changed: several { $0.summary() },
                left: several { $0.room() })
        case .statistics: return .statistics(re: integer(), room: room(), counts())
        case .statisticsDelta: return .statisticsDelta(sub: integer(), counts(), isWhole: bool())
        case .statisticsEnd: return .statisticsEnd(sub: integer(), code: errorName())
        case .trending: return .trending(re: integer(), top())
        case .trendingDelta: return .trendingDelta(sub: integer(), top())
        case .goaway: return .goaway(reason: text(), reconnectInMs: count())
        case .beat:
            return .beat(time: instant(), rooms: several { .init(room: $0.room(), seq: $0.count()) })
        }
    }
}

extension RandomValues {
    mutating func bucket() -> StatisticsBucket {
        StatisticsBucket(
            at: instant(),
            counts: Dictionary(several { ($0.choice(StatisticsMetric.self), $0.count()) }) { one, _ in one })
    }

    mutating func counts() -> RoomCounts {
        RoomCounts(position: position(), minutes: several { $0.bucket() }, today: bucket())
    }

    mutating func top() -> TopAnswer {
        TopAnswer(
            window: choice(), from: instant(), to: instant(), minimumRooms: count(),
            songs: several { values in
                RankedSong(
                    song: CountedSong(
                        track: nil, source: nil, sourceID: nil, title: values.text(),
                        artist: values.maybe { $0.text() },
                        addedBy: nil),
                    plays: values.count(), rooms: values.count())
            })
    }
}

extension RoomEvent {
    /// The event with its sessions hidden, as clients read it.
    var withoutSessions: RoomEvent {
        if case .memberJoined(let member, let name, let role, _) = self {
            return .memberJoined(member: member, name: name, role: role, session: .hidden)
        }
        if case .memberBanned(let member, let by, _, let until, let note, let role) = self {
            return .memberBanned(member: member, by: by, session: .hidden, until: until, note: note, role: role)
        }
        return self
    }
}

extension ShownState {
    /// A room as clients see it.
    init(of room: RoomState) {
        self.init(
            id: room.id, code: room.code, name: room.name, createdAt: room.createdAt, closedAt: room.closedAt,
            visibility: room.visibility, location: room.location, settings: room.settings)
        members = room.members.values.sorted { $0.id < $1.id }.map {
            Member(id: $0.id, name: $0.name, role: $0.role, joinedAt: $0.joinedAt)
        }
        pool = room.poolOrder.compactMap { room.tracks[$0] }.map {
            Track(
                id: $0.id, info: $0.info, addedBy: $0.addedBy, votes: $0.votes, requestedSeq: $0.requestedSeq,
                waveform: $0.waveform, isMissing: $0.isMissing)
        }
        requests = room.requestOrder()
        queue = room.queue.map { QueueEntry(id: $0.id, track: $0.track, addedBy: $0.addedBy) }
        playback = room.onAir.map {
            Playback(
                entry: $0.entry, track: $0.track, startedBy: $0.startedBy, startedAt: $0.startedAt,
                startedSeq: $0.startedSeq, isPaused: $0.isPaused, positionMs: $0.positionMs, at: $0.at,
                skipVotes: $0.skipVoters.count, skipVoters: $0.skipVoters)
        }
        history = room.history
    }
}
