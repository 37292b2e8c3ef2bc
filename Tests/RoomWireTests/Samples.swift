import FoundationEssentials
import GeoSearch
import RoomDomain
import RoomWire

/// The values of the golden texts in `Fixtures`.
enum Sample {
    static let start: Int64 = 1_732_200_000_000

    static let room = RoomID(
        UUID(uuid: (1, 0x93, 0x50, 0x3F, 0x12, 0x34, 0x7A, 0xBC, 0x8D, 0xEF, 1, 0x23, 0x45, 0x67, 0x89, 0xAB)))
    static let code = RoomCode("7K3M9Q") ?? .zero
    static let point = Coordinate(latitude: 41.38, longitude: -2.175)
    static let location = point.map { RoundedLocation(stored: $0) }

    static func session(_ number: UInt8) -> SessionID {
        SessionID(UUID(uuid: (1, 0x93, 0x50, 0x3F, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, number)))
    }

    static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: self.start + seconds * 1_000) }

    static func recorded(_ event: RoomEvent, seq: Int = 8, seconds: Int64 = 8) -> RecordedEvent {
        RecordedEvent(seq: seq, at: self.time(seconds), event: event)
    }

    static let beta = TrackInfo(
        source: "deezer", sourceID: "3135556", title: "Beta", artist: "Ann", album: "One", durationMs: 224_000,
        artworkURL: "https://example.org/1.jpg")

    static func settings(skipRatio: Double, maxWaitingPerMember: Int, repeatAfterPlays: Int) -> RoomSettings {
        var settings = RoomSettings()
        settings.skipRatio = skipRatio
        settings.maxWaitingPerMember = maxWaitingPerMember
        settings.repeatAfterPlays = repeatAfterPlays
        return settings
    }

    /// Bytes that count from 0 to 255, eight times.
    static let waveform: Waveform = {
        guard let waveform = Waveform(data: (0..<Waveform.byteCount).map { UInt8($0 % 256) }) else {
            preconditionFailure("a waveform has \(Waveform.byteCount) bytes")
        }
        return waveform
    }()

    static func relayed(_ json: String) -> RelayedJSON {
        guard let data = RelayedJSON(Array(json.utf8)) else { preconditionFailure("not JSON: \(json)") }
        return data
    }

    static func member(_ number: Int) -> MemberID { MemberID(rawValue: number) }
    static func track(_ number: Int) -> TrackID { TrackID(rawValue: number) }
    static func entry(_ number: Int) -> EntryID { EntryID(rawValue: number) }

    static func created(_ name: String, location: RoundedLocation?, _ visibility: Visibility) -> RoomEvent {
        .roomCreated(
            RoomCreated(
                id: self.room, code: self.code, name: name, location: location, visibility: visibility,
                settings: RoomSettings()))
    }

    /// Every type of event, with and without optional values; the names are those of the fixtures.
    static let events: [(name: String, event: RoomEvent)] = [
        ("roomCreated", created("Kitchen \"live\"", location: location, .public)),
        ("roomCreated-bare", created("Kitchen", location: nil, .unlisted)),
        ("memberJoined", .memberJoined(member: member(2), name: "Bob", role: .guest, session: session(2))),
        (
            "memberLeft",
            .memberLeft(
                MemberLeft(
                    member: member(3), reason: .kicked, by: member(1), note: "too loud",
                    votes: [
                        .init(track: track(1), votes: 1, requestedSeq: 8),
                        .init(track: track(2), votes: 0, requestedSeq: nil),
                    ]))
        ),
        (
            "memberLeft-skipping",
            .memberLeft(MemberLeft(member: member(2), reason: .left, votes: [], skipVotes: 1))
        ),
        ("memberLeft-bare", .memberLeft(MemberLeft(member: member(2), reason: .sessionEnded))),
        ("memberRenamed", .memberRenamed(member: member(2), name: "Bobby")),
        ("roomUpdated", .roomUpdated(manyChanges)),
        ("roomUpdated-cleared", .roomUpdated(clearing)),
        ("roomUpdated-moderation", .roomUpdated(moderating)),
        ("roomClosed", .roomClosed),
        ("roomClosed-reason", .roomClosed(forget: false, by: member(1), note: "late")),
        ("roomClosed-forget", .roomClosed(forget: true)),
        ("roleChanged", .roleChanged(member: member(2), role: .dj)),
        ("roleChanged-reason", .roleChanged(member: member(2), role: .dj, by: member(1), note: "good taste")),
        ("roleChanged-server", .roleChanged(member: member(2), role: .owner, note: RoomState.ownerAway)),
        ("memberBanned", .memberBanned(member: member(3), by: member(1), session: session(3))),
        ("memberBanned-server", .memberBanned(member: member(3), by: nil, session: session(3))),
        (
            "memberBanned-until",
            .memberBanned(
                member: member(3), by: member(1), session: session(3), until: time(3_608), note: "too loud")
        ),
        (
            "memberBanned-dj",
            .memberBanned(member: member(3), by: member(1), session: session(3), role: .dj)
        ),
        ("memberUnbanned", .memberUnbanned(member: member(3), by: member(1))),
        ("memberUnbanned-reason", .memberUnbanned(member: member(3), by: member(1), note: "sorry")),
        ("memberUnbanned-server", .memberUnbanned(member: member(3), by: nil)),
        (
            "tracksAdded",
            .tracksAdded(
                tracks: [
                    NumberedTrack(
                        id: track(1),
                        info: TrackInfo(
                            source: "deezer", sourceID: "3135556", title: "Harder, Better\n", artist: "Daft Punk",
                            album: "Discovery", durationMs: 224_000, artworkURL: "https://example.org/1.jpg")),
                    NumberedTrack(
                        id: track(2), info: TrackInfo(source: "file", sourceID: "b", title: "Étude № 1 🎹")),
                ], by: member(1))
        ),
        ("tracksRemoved", .tracksRemoved(tracks: [track(1), track(2)], by: member(1))),
        ("voteCast", .voteCast(track: track(1), by: member(2), votes: 1, requestedSeq: 8)),
        ("voteWithdrawn", .voteWithdrawn(track: track(1), by: member(2), votes: 2, requestedSeq: 8)),
        ("voteWithdrawn-last", .voteWithdrawn(track: track(1), by: member(2), votes: 0, requestedSeq: nil)),
        ("votesCleared", .votesCleared(track: track(1))),
        ("entryEnqueued", .entryEnqueued(entry: entry(1), track: track(1), index: 0, by: member(1))),
        ("entryEnqueued-server", .entryEnqueued(entry: entry(1), track: track(1), index: 0, by: nil)),
        (
            "entryEnqueued-votes",
            .entryEnqueued(
                entry: entry(1), track: track(1), index: 0, by: nil,
                why: ChoiceReason(rule: .votes, rank: [3, 5]))
        ),
        (
            "entryEnqueued-fair",
            .entryEnqueued(
                entry: entry(1), track: track(1), index: 0, by: nil,
                why: ChoiceReason(rule: .fair, rank: [2, 1, 5], turnOf: member(2)))
        ),
        ("entryRemoved", .entryRemoved(entry: entry(1), by: member(1))),
        (
            "entryRemoved-repeat",
            .entryRemoved(entry: entry(1), by: nil, why: ChoiceReason(rule: .repeatAfterPlays, rank: [1, 10]))
        ),
        ("entryMoved", .entryMoved(entry: entry(1), index: 2, by: member(1))),
        ("playbackStarted", started(entry(1), track(1), seconds: 8)),
        (
            "playbackStarted-server",
            .playbackStarted(entry: entry(1), track: track(1), positionMs: 0, at: time(8), by: nil)
        ),
        (
            "playbackStarted-offline",
            .playbackStarted(
                entry: entry(1), track: track(1), positionMs: 61_000, at: time(8), by: member(1), startedAt: time(3),
                playedMs: 4_000)
        ),
        ("playbackPaused", .playbackPaused(positionMs: 61_000, at: time(8), by: member(1))),
        (
            "playbackPaused-offline",
            .playbackPaused(positionMs: 61_000, at: time(8), by: member(1), playedMs: 60_000)
        ),
        (
            "playbackResumed-offline",
            .playbackResumed(positionMs: 61_000, at: time(8), by: member(1), playedMs: 60_000)
        ),
        (
            "playbackSeeked-offline",
            .playbackSeeked(positionMs: 5_000, at: time(8), by: member(1), playedMs: 60_000)
        ),
        ("playbackResumed", .playbackResumed(positionMs: 61_000, at: time(8), by: member(1))),
        ("playbackSeeked", .playbackSeeked(positionMs: 5_000, at: time(8), by: member(1))),
        ("playbackStopped", .playbackStopped(by: member(1))),
        ("playbackStopped-server", .playbackStopped),
        ("waveformSet", .waveformSet(track: track(7), waveform: waveform.name, by: member(1))),
        ("durationSet", .durationSet(track: track(7), durationMs: 61_500, by: member(1))),
        ("missingSet", .missingSet(tracks: [track(7), track(9)], by: member(1))),
        ("missingSet-nothing", .missingSet(tracks: [], by: member(1))),
        ("skipVoteCast", .skipVoteCast(entry: entry(1), by: member(2), skipVotes: 1)),
        ("skipVoteWithdrawn", .skipVoteWithdrawn(entry: entry(1), by: member(2), skipVotes: 0)),
        ("entryFinished", finished(entry(1), track(1), startedSeconds: 1, playedMs: 7_000, by: member(1))),
        ("entryFinished-server", finished(entry(1), track(1), startedSeconds: 1, playedMs: 7_000)),
        (
            "entryFinished-offline",
            .entryFinished(
                entry: entry(1), track: track(1), reason: .ended, startedAt: time(1), playedMs: 4_000, by: member(1),
                endedAt: time(6))
        ),
        (
            "entryFinished-missing",
            .entryFinished(
                entry: entry(1), track: track(1), reason: .skipped, startedAt: time(1), playedMs: 0, by: member(1),
                isMissing: true)
        ),
    ]

    private static var manyChanges: RoomChanges {
        var changes = RoomChanges()
        changes.name = "Cellar"
        changes.location = Coordinate(latitude: -90, longitude: 0).map { RoundedLocation(stored: $0) }
        changes.visibility = .unlisted
        changes.settings = self.settings(skipRatio: 0.25, maxWaitingPerMember: 3, repeatAfterPlays: 10)
        return changes
    }

    private static var clearing: RoomChanges {
        var changes = RoomChanges()
        changes.locationCleared = true
        return changes
    }

    private static var moderating: RoomChanges {
        var settings = RoomSettings()
        settings.queueLocked = true
        settings.slowModeMs = 30_000
        settings.ownerAwayMs = 600_000
        var changes = RoomChanges()
        changes.settings = settings
        changes.by = self.member(1)
        changes.note = "too many"
        return changes
    }

    private static func started(_ entry: EntryID, _ track: TrackID, seconds: Int64) -> RoomEvent {
        .playbackStarted(entry: entry, track: track, positionMs: 0, at: self.time(seconds), by: self.member(1))
    }

    private static func finished(
        _ entry: EntryID, _ track: TrackID, startedSeconds: Int64, playedMs: Int64, by: MemberID? = nil
    ) -> RoomEvent {
        .entryFinished(
            entry: entry, track: track, reason: .skipped, startedAt: self.time(startedSeconds), playedMs: playedMs,
            by: by)
    }

    /// A room with every kind of content.
    static let state: RoomState = fold([
        (1, created("Kitchen", location: location, .public)),
        (2, .memberJoined(member: member(1), name: "Ana", role: .owner, session: session(1))),
        (3, .memberJoined(member: member(2), name: "Bob", role: .guest, session: session(2))),
        (4, .memberJoined(member: member(10), name: "Cy", role: .dj, session: session(3))),
        (
            5,
            .memberBanned(member: member(4), by: member(1), session: session(4), until: time(3_605), note: "too loud")
        ),
        (
            6,
            .tracksAdded(
                tracks: [
                    NumberedTrack(id: track(1), info: beta),
                    NumberedTrack(id: track(2), info: TrackInfo(source: "file", sourceID: "b", title: "gamma")),
                    NumberedTrack(id: track(3), info: TrackInfo(source: "file", sourceID: "c", title: "alpha")),
                    NumberedTrack(id: track(4), info: TrackInfo(source: "file", sourceID: "d", title: "Ölung")),
                ], by: member(1))
        ),
        (7, .voteCast(track: track(2), by: member(2), votes: 1, requestedSeq: 7)),
        (7, .voteCast(track: track(2), by: member(10), votes: 2, requestedSeq: 7)),
        (7, .voteCast(track: track(3), by: member(2), votes: 1, requestedSeq: 9)),
        (7, .voteCast(track: track(4), by: member(10), votes: 1, requestedSeq: 10)),
        (7, .entryEnqueued(entry: entry(1), track: track(1), index: 0, by: member(1))),
        (7, .entryEnqueued(entry: entry(2), track: track(4), index: 1, by: nil)),
        (7, .entryEnqueued(entry: entry(3), track: track(1), index: 0, by: member(1))),
        (7, .entryEnqueued(entry: entry(4), track: track(1), index: 0, by: member(1))),
        (13, started(entry(1), track(1), seconds: 13)),
        (14, finished(entry(1), track(1), startedSeconds: 13, playedMs: 1_000)),
        (15, started(entry(4), track(1), seconds: 15)),
        (
            16,
            .tracksAdded(
                tracks: [NumberedTrack(id: track(5), info: TrackInfo(source: "file", sourceID: "e", title: "zeta"))],
                by: member(2))
        ),
        (17, .waveformSet(track: track(2), waveform: waveform.name, by: member(1))),
        (18, .waveformSet(track: track(5), waveform: waveform.name, by: member(2))),
        (19, .durationSet(track: track(1), durationMs: 225_500, by: member(1))),
        (20, .missingSet(tracks: [track(5)], by: member(1))),
        (21, .skipVoteCast(entry: entry(4), by: member(10), skipVotes: 1)),
        (22, .skipVoteCast(entry: entry(4), by: member(2), skipVotes: 2)),
    ])

    /// A room that was closed soon after it was made.
    static let closed: RoomState = fold([
        (1, created("Kitchen", location: nil, .unlisted)),
        (2, .memberJoined(member: member(1), name: "Ana", role: .owner, session: session(1))),
        (3, .roomClosed),
    ])

    private static func fold(_ events: [(seconds: Int64, event: RoomEvent)]) -> RoomState {
        var state = RoomState(id: self.room)
        for (index, (seconds, event)) in events.enumerated() {
            state.evolve(self.recorded(event, seq: index + 1, seconds: seconds))
        }
        return state
    }

    /// Every command, with and without optional values; the names are those of the fixtures.
    static let commands: [(name: String, command: RoomCommand)] = [
        ("join", .join(name: nil)),
        ("join-named", .join(name: "Ana")),
        ("leave", .leave),
        ("rename", .rename(name: "Bobby")),
        ("updateRoom", .updateRoom(manyUpdates)),
        ("updateRoom-clear", .updateRoom(clearingUpdate)),
        ("updateRoom-moderation", .updateRoom(moderatingUpdate)),
        ("updateRoom-nothing", .updateRoom(RoomUpdate())),
        ("closeRoom", .closeRoom),
        ("closeRoom-forget", .closeRoom(forget: true)),
        ("closeRoom-reason", .closeRoom(forget: false, note: "late")),
        ("setRole", .setRole(member: member(2), role: .dj)),
        ("setRole-reason", .setRole(member: member(2), role: .dj, note: "good taste")),
        ("transferOwnership", .transferOwnership(member: member(2))),
        ("transferOwnership-reason", .transferOwnership(member: member(2), note: "asleep")),
        ("kick", .kick(member: member(2), ban: false, note: nil)),
        ("kick-ban", .kick(member: member(2), ban: true, note: "too loud")),
        ("kick-until", .kick(member: member(2), ban: true, durationMs: 3_600_000, note: "too loud")),
        ("kick-many", .kick(members: [member(2), member(3)], ban: true, note: nil)),
        ("unban", .unban(member: member(2))),
        ("unban-reason", .unban(member: member(2), note: "sorry")),
        ("addTracks", .addTracks([beta, TrackInfo(source: "file", sourceID: "b", title: "gamma")])),
        ("removeTracks", .removeTracks([track(7), track(8)])),
        ("setWaveform", .setWaveform(track: track(7), waveform: waveform)),
        ("setDuration", .setDuration(track: track(7), durationMs: 61_500)),
        ("setMissing", .setMissing([track(7), track(9)])),
        ("setMissing-nothing", .setMissing([])),
        ("vote", .vote(track: track(7))),
        ("unvote", .unvote(track: track(7))),
        ("enqueue", .enqueue(track: track(7), index: nil)),
        ("enqueue-at", .enqueue(track: track(7), index: 0)),
        ("dequeue", .dequeue(entry: entry(9))),
        ("move", .move(entry: entry(9), index: 3)),
        ("play", .play(entry: nil)),
        ("play-entry", .play(entry: entry(9))),
        ("pause", .pause),
        ("pause-entry", .pause(entry: entry(9))),
        ("resume", .resume),
        ("resume-entry", .resume(entry: entry(9))),
        ("seek", .seek(positionMs: 61_000)),
        ("seek-entry", .seek(positionMs: 61_000, entry: entry(9))),
        ("skip", .skip),
        ("skip-entry", .skip(entry: entry(9))),
        ("finish", .finish(entry: entry(9))),
        ("finish-missing", .finish(entry: entry(9), isMissing: true)),
        ("voteSkip", .voteSkip(entry: entry(9))),
        ("unvoteSkip", .unvoteSkip(entry: entry(9))),
        ("syncDeck", .syncDeck(Deck(queue: [], playback: .stopped))),
        (
            "syncDeck-playing",
            .syncDeck(
                Deck(
                    queue: [.track(track(7)), .entry(entry(9))],
                    playback: .onAir(.entry(entry(8)), isPaused: false, positionMs: 61_000, at: time(8))))
        ),
        (
            "syncDeck-paused",
            .syncDeck(
                Deck(
                    queue: [],
                    playback: .onAir(.track(track(7)), isPaused: true, positionMs: 0, at: time(8))))
        ),
        (
            "syncDeck-played",
            .syncDeck(
                Deck(
                    played: [
                        Deck.Played(
                            item: .entry(entry(8)), startedAt: time(1), playedMs: 1_500, reason: .ended,
                            endedAt: time(3)),
                        Deck.Played(item: .track(track(7)), startedAt: time(3), playedMs: 1_000, reason: .skipped),
                    ],
                    queue: [.entry(entry(10))],
                    playback: .onAir(
                        .entry(entry(9)), isPaused: false, positionMs: 61_000, at: time(8), startedAt: time(4),
                        playedMs: 4_000),
                    known: entry(11)))
        ),
    ]

    private static var manyUpdates: RoomUpdate {
        var update = RoomUpdate()
        update.name = "Cellar"
        update.location = self.point
        update.visibility = .unlisted
        update.settings.queueMode = .fair
        update.settings.skipRatio = 0.25
        update.settings.maxWaitingPerMember = 3
        update.settings.repeatAfterPlays = 10
        update.settings.guestsMayAdd = true
        return update
    }

    private static var moderatingUpdate: RoomUpdate {
        var update = RoomUpdate()
        update.settings.queueLocked = true
        update.settings.slowModeMs = 30_000
        update.settings.ownerAwayMs = 600_000
        update.note = "too many"
        return update
    }

    private static var clearingUpdate: RoomUpdate {
        var update = RoomUpdate()
        update.clearLocation = true
        return update
    }
}
