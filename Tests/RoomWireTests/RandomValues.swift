import FoundationEssentials
import GeoSearch
import RandomTestSupport
import RoomDomain
import RoomWire

/// Random values of everything that is written and read.
///
/// Texts need escapes, numbers are large and small, and each optional value is absent every other time.
struct RandomValues {
    var random: SeededRandom

    static let texts = [
        "Ana", "Été", "E\u{301}te\u{301}", "東京", "🎹 \"live\"", "a\\b", "\u{0}\u{1F}\n\t\u{7F}", "</script>", "",
        " ", "null", String(repeating: "x", count: 300),
    ]

    // MARK: Scalars

    mutating func maybe<Value>(_ value: (inout Self) -> Value) -> Value? {
        random.once(in: 2) ? nil : value(&self)
    }

    mutating func several<Value>(_ value: (inout Self) -> Value) -> [Value] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in value(&self) }
    }

    mutating func bool() -> Bool { random.once(in: 2) }

    mutating func text() -> String { random.pick(Self.texts, or: "") }

    mutating func integer() -> Int64 {
        random.once(in: 8) ? random.pick([.min, -1, 0, .max], or: 0) : Int64.random(in: 0...9_999_999, using: &random)
    }

    mutating func count() -> Int { Int(integer()) }

    mutating func number() -> Double {
        random.once(in: 8)
            ? random.pick(
                [0, -0.5, 1e-300, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 9_007_199_254_740_994], or: 0)
            : Double.random(in: -2e12...2e12, using: &random)
    }

    mutating func instant() -> Timestamp { Timestamp(milliseconds: integer()) }

    mutating func id<ID: RawRepresentable<Int>>(_ type: ID.Type = ID.self) -> ID {
        let number = random.once(in: 8) ? Int.max : Int.random(in: 1...99, using: &random)
        guard let id = ID(rawValue: number) else { preconditionFailure("no \(type) has the number \(number)") }
        return id
    }

    mutating func choice<Choice: CaseIterable>(_ type: Choice.Type = Choice.self) -> Choice {
        guard let choice = type.allCases.randomElement(using: &random) else {
            preconditionFailure("\(type) has no case")
        }
        return choice
    }

    mutating func uuid() -> UUID {
        UUID.makeV7(
            at: Timestamp(milliseconds: .random(in: 0...9_999_999, using: &random)),
            random: (random.next(), random.next()))
    }

    mutating func room() -> RoomID { RoomID(uuid()) }
    mutating func session() -> SessionID { SessionID(uuid()) }
    mutating func code() -> RoomCode { RoomCode(random: random.next(), length: choice()) }
    mutating func seq() -> Int { Int.random(in: 1...99_999, using: &random) }

    mutating func location() -> Coordinate? {
        maybe { values in
            (Double.random(in: -90...90, using: &values.random), Double.random(in: -180...180, using: &values.random))
        }.flatMap { Coordinate(latitude: $0.0, longitude: $0.1) }
    }

    mutating func rounded() -> RoundedLocation? { location().map { RoundedLocation(stored: $0) } }

    // MARK: Parts of rooms

    mutating func settings() -> RoomSettings {
        var settings = RoomSettings()
        settings.queueMode = choice()
        settings.skipRatio = number()
        settings.maxWaitingPerMember = count()
        settings.repeatAfterPlays = count()
        settings.guestsMayAdd = bool()
        settings.queueLocked = bool()
        // A value that is not positive counts as 0.
        settings.slowModeMs = random.once(in: 2) ? 0 : seq()
        settings.ownerAwayMs = random.once(in: 2) ? 0 : seq()
        settings.countedAcrossRooms = bool()
        return settings
    }

    mutating func settingsUpdate() -> SettingsUpdate {
        var update = SettingsUpdate()
        guard !random.once(in: 3) else { return update }
        update.queueMode = maybe { $0.choice() }
        update.skipRatio = maybe { $0.number() }
        update.maxWaitingPerMember = maybe { $0.count() }
        update.repeatAfterPlays = maybe { $0.count() }
        update.guestsMayAdd = maybe { $0.bool() }
        update.queueLocked = maybe { $0.bool() }
        update.slowModeMs = maybe { $0.count() }
        update.ownerAwayMs = maybe { $0.count() }
        update.countedAcrossRooms = maybe { $0.bool() }
        return update
    }

    mutating func info() -> TrackInfo {
        TrackInfo(
            source: text(), sourceID: text(), title: text(), artist: maybe { $0.text() }, album: maybe { $0.text() },
            durationMs: maybe { $0.integer() }, artworkURL: maybe { $0.text() })
    }

    mutating func track() -> Track {
        Track(id: id(), info: info(), addedBy: id(), votes: count(), requestedSeq: maybe { $0.count() })
    }

    mutating func presence() -> Presence {
        Presence(online: count(), members: maybe { values in values.several { $0.id() } })
    }

    mutating func you() -> You? {
        maybe { values in You(member: values.id(), role: values.choice(), votes: values.several { $0.id() }) }
    }

    mutating func position() -> Position {
        Position(epoch: text(), seq: Int.random(in: 0...99, using: &random))
    }

    mutating func result() -> CommandResult? {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .member(id())
        case 1: .tracks(several { $0.id() })
        case 2: .entry(id())
        default: nil
        }
    }

    mutating func summary() -> RoomSummary {
        RoomSummary(
            id: room(), code: code(), name: text(), location: rounded(), listeners: count(),
            djName: maybe { $0.text() },
            nowPlaying: maybe { values in .init(title: values.text(), artist: values.maybe { $0.text() }) },
            createdAt: instant(), distanceMeters: maybe { $0.number() }, role: maybe { $0.choice() })
    }

    mutating func state() -> ShownState {
        var state = ShownState(
            id: room(), code: code(), name: text(), createdAt: instant(), closedAt: maybe { $0.instant() },
            visibility: choice(), location: rounded(), settings: settings())
        state.members = several { .init(id: $0.id(), name: $0.text(), role: $0.choice(), joinedAt: $0.instant()) }
        state.pool = several { $0.track() }
        state.requests = several { $0.id() }
        state.queue = several { values in
            QueueEntry(id: values.id(), track: values.id(), addedBy: values.maybe { $0.id() })
        }
        state.playback = maybe { values in
            ShownState.Playback(
                entry: values.id(), track: values.id(), startedBy: values.maybe { $0.id() },
                startedAt: values.instant(),
                startedSeq: values.count(), isPaused: values.bool(), positionMs: values.integer(), at: values.instant(),
                skipVotes: values.count())
        }
        state.history = several { values in
            HistoryEntry(
                entry: values.id(), track: values.id(), title: values.text(), artist: values.maybe { $0.text() },
                startedAt: values.instant(), endedAt: values.instant(), reason: values.choice(),
                playedMs: values.integer())
        }
        return state
    }

    /// A JSON text with unusual spellings.
    mutating func relayed() -> RelayedJSON {
        Sample.relayed(
            random.pick(
                [
                    "null", "true", #"{ "a" : [1.0,12345678901234567890123] }"#, #"{"sdp":"v=0\r\n\u00e9"}"#,
                    "[ [ ] , 1e2 ]",
                ],
                or: "0"))
    }
}
