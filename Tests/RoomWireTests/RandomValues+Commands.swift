import RandomTestSupport
import RoomDomain
import RoomTestSupport
import RoomWire

/// Random commands and messages of clients.
extension RandomValues {
    mutating func command(_ kind: RoomCommand.Kind) -> RoomCommand {
        switch kind {
        case .join: .join(name: maybe { $0.text() })
        case .leave: .leave
        case .rename: .rename(name: text())
        case .updateRoom: .updateRoom(update())
        case .closeRoom: .closeRoom(forget: bool(), note: maybe { $0.text() })
        case .setRole: .setRole(member: id(), role: bool() ? .dj : .guest, note: maybe { $0.text() })
        case .transferOwnership: .transferOwnership(member: id(), note: maybe { $0.text() })
        case .kick:
            .kick(
                members: several { $0.id() }, ban: bool(), durationMs: maybe { $0.integer() }, note: maybe { $0.text() }
            )
        case .unban: .unban(member: id(), note: maybe { $0.text() })
        case .addTracks: .addTracks(several { $0.info() })
        case .removeTracks: .removeTracks(several { $0.id() })
        case .setWaveform: .setWaveform(track: id(), waveform: waveform())
        case .setDuration: .setDuration(track: id(), durationMs: integer())
        case .setMissing: .setMissing(several { $0.id() })
        case .vote: .vote(track: id())
        case .unvote: .unvote(track: id())
        case .enqueue: .enqueue(track: id(), index: maybe { $0.count() })
        case .dequeue: .dequeue(entry: id())
        case .move: .move(entry: id(), index: count())
        case .play: .play(entry: maybe { $0.id() })
        case .pause: .pause(entry: maybe { $0.id() })
        case .resume: .resume(entry: maybe { $0.id() })
        case .seek: .seek(positionMs: integer(), entry: maybe { $0.id() })
        case .skip: .skip(entry: maybe { $0.id() })
        case .finish: .finish(entry: id(), isMissing: bool())
        case .voteSkip: .voteSkip(entry: id())
        case .unvoteSkip: .unvoteSkip(entry: id())
        case .syncDeck: .syncDeck(deck())
        case .countSkipVotes: .countSkipVotes
        case .replaceOwner: .replaceOwner(id())
        case .endMembership: .endMembership(session: session(), reason: choice())
        }
    }

    mutating func waveform() -> Waveform {
        Waveform.samples[Int.random(in: 0..<Waveform.samples.count, using: &random)]
    }

    private mutating func update() -> RoomUpdate {
        var update = RoomUpdate()
        update.name = maybe { $0.text() }
        update.location = location()
        update.clearLocation = bool()
        update.visibility = maybe { $0.choice() }
        update.settings = settingsUpdate()
        update.note = maybe { $0.text() }
        return update
    }

    private mutating func deck() -> Deck {
        Deck(
            played: several { values in
                Deck.Played(
                    item: values.item(), startedAt: values.instant(), playedMs: values.integer(),
                    reason: values.bool() ? .ended : .skipped, endedAt: values.maybe { $0.instant() })
            },
            queue: several { $0.item() },
            playback: random.once(in: 3)
                ? .stopped
                : .onAir(
                    item(), isPaused: bool(), positionMs: integer(), at: instant(), startedAt: maybe { $0.instant() },
                    playedMs: maybe { $0.integer() }),
            known: maybe { $0.id() })
    }

    private mutating func item() -> Deck.Item { bool() ? .track(id()) : .entry(id()) }

    /// A command that a client may send.
    mutating func command() -> RoomCommand {
        while true {
            let command = command(choice())
            if !RoomCommand.Kind.servers.contains(command.kind) { return command }
        }
    }

    mutating func message(_ kind: ClientMessage.Kind) -> ClientMessage {
        let id: Int64? = maybe { $0.integer() }
        switch kind {
        case .subscribe: return .subscribe(id: id, room: reference(), position: maybe { $0.position() })
        case .unsubscribe: return .unsubscribe(id: id, room: reference())
        case .command:
            let key = bool() ? nil : random.pick(["k-1", " ", "🎹", String(repeating: "é", count: 128)], or: "k")
            return .command(
                id: id, room: reference(), key: key, command: command(), after: maybe { $0.integer() })
        case .react: return .react(id: id, room: reference(), emoji: random.pick(["👍", "👩🏻‍❤️‍💋‍👨🏿", "\"", "\\", "🇪🇸"], or: "a"))
        case .signal: return .signal(id: id, room: reference(), to: self.id(), data: relayed())
        case .deck: return .deck(id: id, room: reference(), isOn: bool())
        case .time: return .time(id: id, t1: number())
        case .nearby: return .nearby(id: integer(), query: nearbyQuery())
        case .nearbyStop: return .nearbyStop(id: id, sub: integer())
        case .statistics: return .statistics(id: integer(), room: reference(), offset: Int(integer()))
        case .statisticsStop: return .statisticsStop(id: id, sub: integer())
        case .trending:
            let place = maybe { $0.nearbyQuery() }
            let limit = place?.limit ?? NearbyQuery.usualLimit
            return .trending(id: integer(), query: TrendingQuery(window: choice(), place: place, limit: limit))
        case .trendingStop: return .trendingStop(id: id, sub: integer())
        }
    }

    mutating func nearbyQuery() -> NearbyQuery {
        guard let origin = location() else { return nearbyQuery() }
        return NearbyQuery(
            origin: origin,
            radiusMeters: bool() ? NearbyQuery.usualRadius : Double.random(in: NearbyQuery.radii, using: &random),
            limit: bool() ? NearbyQuery.usualLimit : Int.random(in: NearbyQuery.limits, using: &random))
    }

    private mutating func reference() -> RoomReference { bool() ? .id(room()) : .code(code()) }
}

extension RoomCommand.Kind {
    /// The commands that only the server sends.
    static let servers: Set<Self> = [.countSkipVotes, .replaceOwner, .endMembership]
}
