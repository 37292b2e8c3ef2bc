import GeoSearch
package import RandomTestSupport
package import RoomDomain

/// Random commands by random people, mostly about things in the room.
package struct RandomCommands {
    package var random: SeededRandom
    /// The people.
    private let sessions: [SessionID]
    /// Whether rooms are told to replace absent owners: they then change without a client's command.
    private let replacesOwners: Bool
    private static let titles = [
        "Alpha", "alpha", "Été", "E\u{301}te\u{301}", "zoo", "İstanbul", "ß", "ΑΣ", "東京", "🎹 \"live\"", "a\\b", "Ωmega",
    ]

    package init(random: SeededRandom, sessions: [SessionID], replacesOwners: Bool = false) {
        self.random = random
        self.sessions = sessions
        self.replacesOwners = replacesOwners
    }

    /// The owner, every other time: only the owner may give most commands.
    package mutating func actor(in room: RoomState) -> Actor {
        if self.random.once(in: 2), let owner = room.members.values.first(where: { $0.role == .owner }) {
            return .session(owner.session, name: owner.name)
        }
        guard !self.random.once(in: 30), let number = self.sessions.indices.randomElement(using: &self.random) else {
            return .server
        }
        return .session(self.sessions[number], name: "S\(number + 1)")
    }

    package mutating func command(for room: RoomState) -> RoomCommand {
        switch Int.random(in: 0..<100, using: &self.random) {
        case 0..<12: .join(name: self.random.once(in: 2) ? nil : self.title())
        case 12..<14: room.members.count > 1 ? .leave : .skip
        case 14..<16: .rename(name: self.title())
        case 16..<20: .updateRoom(self.update())
        case 20: self.random.once(in: 3) ? .closeRoom : self.report(room)
        case 21..<25: .setRole(member: self.member(room), role: self.random.once(in: 3) ? .guest : .dj)
        case 25: .transferOwnership(member: self.member(room))
        case 26..<28: self.kick(in: room)
        case 28..<30: .unban(member: room.bans.values.map(\.member).min() ?? self.member(room))
        case 30..<38: .addTracks((0..<Int.random(in: 1...4, using: &self.random)).map { _ in self.info() })
        case 38..<41: .removeTracks([self.track(room), self.track(room)])
        case 41..<47: .setWaveform(track: self.track(room), waveform: self.waveform())
        case 47..<60: .vote(track: self.track(room))
        case 60..<65: .unvote(track: self.track(room))
        case 65..<75: .enqueue(track: self.track(room), index: self.random.once(in: 2) ? nil : self.index(room))
        case 75..<77: .dequeue(entry: self.entry(room))
        case 77..<81: .move(entry: self.entry(room), index: self.index(room))
        case 81..<87: .play(entry: self.random.once(in: 2) ? nil : self.entry(room))
        case 87..<91:
            room.onAir?.isPaused == true ? .resume(entry: self.maybeOnAir(room)) : .pause(entry: self.maybeOnAir(room))
        case 91..<93:
            .seek(positionMs: Int64.random(in: 0...200_000, using: &self.random), entry: self.maybeOnAir(room))
        case 93..<96: .skip(entry: self.maybeOnAir(room))
        case 96: .finish(entry: self.onAir(room))
        case 97: self.random.once(in: 3) ? .unvoteSkip(entry: self.onAir(room)) : .voteSkip(entry: self.onAir(room))
        default: self.endMembership(in: room)
        }
    }

    /// What a deck reports of its songs.
    private mutating func report(_ room: RoomState) -> RoomCommand {
        if self.random.once(in: 2) {
            return .setDuration(track: self.track(room), durationMs: Int64.random(in: 1...300_000, using: &self.random))
        }
        return .setMissing((0..<Int.random(in: 0...3, using: &self.random)).map { _ in self.track(room) })
    }

    /// The entry on air, or another one if there is none.
    private mutating func onAir(_ room: RoomState) -> EntryID { room.onAir?.entry ?? self.entry(room) }

    private mutating func maybeOnAir(_ room: RoomState) -> EntryID? {
        self.random.once(in: 2) ? nil : self.onAir(room)
    }

    private mutating func waveform() -> Waveform {
        Waveform.samples[Int.random(in: 0..<Waveform.samples.count, using: &self.random)]
    }

    private mutating func endMembership(in room: RoomState) -> RoomCommand {
        guard let session = self.sessions.randomElement(using: &self.random) else { return .leave }
        return .endMembership(session: session, reason: self.random.once(in: 2) ? .expired : .sessionEnded)
    }

    /// Half of the bans end by themselves, soon.
    private mutating func kick(in room: RoomState) -> RoomCommand {
        let ban = self.random.once(in: 2)
        let durationMs = ban && self.random.once(in: 2) ? Int64.random(in: 1...3_000, using: &self.random) : nil
        let members = (0..<Int.random(in: 1...3, using: &self.random)).map { _ in self.member(room) }
        return .kick(members: members, ban: ban, durationMs: durationMs, note: self.title())
    }

    private mutating func title() -> String { Self.titles.randomElement(using: &self.random) ?? "Alpha" }

    private mutating func info() -> TrackInfo {
        TrackInfo(
            source: "file", sourceID: self.title(), title: self.title() + (self.random.once(in: 2) ? "" : " 2"),
            artist: self.random.once(in: 2) ? nil : self.title(), album: self.random.once(in: 2) ? nil : self.title(),
            durationMs: self.random.once(in: 2) ? nil : Int64.random(in: 0...300_000, using: &self.random),
            artworkURL: self.random.once(in: 2) ? nil : "https://example.org/1.jpg")
    }

    private mutating func update() -> RoomUpdate {
        var update = RoomUpdate()
        if self.random.once(in: 2) { update.name = self.title() }
        if self.random.once(in: 3) { update.clearLocation = true }
        if self.random.once(in: 2), !update.clearLocation {
            update.location = Coordinate(
                latitude: Double.random(in: -90...90, using: &self.random),
                longitude: Double.random(in: -180...180, using: &self.random))
        }
        if self.random.once(in: 3) { update.visibility = self.random.once(in: 2) ? .public : .unlisted }
        if self.random.once(in: 2) { update.settings.skipRatio = Double.random(in: 0...1, using: &self.random) }
        if self.random.once(in: 3) { update.settings.repeatAfterPlays = Int.random(in: 0...2, using: &self.random) }
        if self.random.once(in: 3) { update.settings.queueMode = QueueMode.allCases.randomElement(using: &self.random) }
        if self.random.once(in: 2) { update.settings.guestsMayAdd = self.random.once(in: 2) }
        if self.random.once(in: 4) { update.settings.queueLocked = self.random.once(in: 2) }
        if self.random.once(in: 4) { update.settings.slowModeMs = Int.random(in: 0...500, using: &self.random) }
        if self.replacesOwners, self.random.once(in: 2) {
            update.settings.ownerAwayMs = Int.random(in: 0...2_000, using: &self.random)
        }
        if self.random.once(in: 3) { update.note = self.title() }
        if self.random.once(in: 4) { update.settings.countedAcrossRooms = self.random.once(in: 2) }
        return update
    }

    private mutating func member(_ room: RoomState) -> MemberID {
        MemberID(rawValue: Int.random(in: max(1, room.nextMember - 10)...room.nextMember, using: &self.random))
    }

    private mutating func track(_ room: RoomState) -> TrackID {
        room.poolOrder.randomElement(using: &self.random) ?? TrackID(rawValue: 1)
    }

    private mutating func entry(_ room: RoomState) -> EntryID {
        room.queue.randomElement(using: &self.random)?.id ?? EntryID(rawValue: 1)
    }

    private mutating func index(_ room: RoomState) -> Int {
        Int.random(in: 0...room.queue.count, using: &self.random)
    }
}
