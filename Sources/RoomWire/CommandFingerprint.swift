import GeoSearch
package import RoomDomain

extension CommandJSON {
    /// Returns a hash of the command, equal in every process and release; it tells a retry from another command with
    /// the same key.
    ///
    /// FNV-1a over the command's name and fields. Commands that differ only in how they were written (order, white
    /// space, `null` for absent, fields the protocol does not name) have the same fingerprint. Fingerprints are stored,
    /// so a command's fingerprint must never change.
    package static func fingerprint(_ command: RoomCommand) -> Int64 {
        var hash = Fingerprint()
        hash.combine(command)
        return Int64(bitPattern: hash.value)
    }

    /// Returns the hash of the command with its location rounded to cells of `cell` metres, as it is stored.
    package static func fingerprint(_ command: RoomCommand, cell: Double) -> Int64 {
        guard case .updateRoom(var update) = command else { return fingerprint(command) }
        update.location = update.location?.rounded(toCellsOf: cell).coordinate
        return fingerprint(.updateRoom(update))
    }
}

extension Fingerprint {
    private mutating func combine(_ text: String?) {
        self.combine(isPresent: text != nil)
        if let text { self.combine(text) }
    }

    /// Hashes a field that was added to a command later: without a value, the hash is the same as before the field
    /// existed.
    private mutating func combine(later value: String?, _ name: String) {
        guard let value else { return }
        self.combine(name)
        self.combine(value)
    }

    /// Hashes the entry of a command that could not name one before.
    private mutating func combine(laterEntry entry: EntryID?) {
        self.combine(later: entry.map { String($0.rawValue) }, "entry")
    }

    private mutating func combine(_ integer: Int64?) {
        self.combine(isPresent: integer != nil)
        if let integer { self.combine(integer) }
    }

    private mutating func combine(_ number: Double?) {
        self.combine(isPresent: number != nil)
        if let number { self.combine(bits: (number + 0).bitPattern) }
    }

    private mutating func combine<ID: RawRepresentable<Int>>(_ id: ID) {
        self.combine(Int64(id.rawValue))
    }

    fileprivate mutating func combine(_ command: RoomCommand) {
        self.combine(command.kind.rawValue)
        switch command {
        case .join(let name): self.combine(name)
        case .rename(let name): self.combine(name)
        case .updateRoom(let update): self.combine(update)
        case .closeRoom(let forget, let note):
            // A closing without `forget` keeps the hash from before the field existed.
            if forget { self.combine(isPresent: true) }
            self.combine(later: note, "reason")
        case .setRole(let member, let role, let note):
            self.combine(member)
            self.combine(role.rawValue)
            self.combine(later: note, "reason")
        case .transferOwnership(let member, let note):
            self.combine(member)
            self.combine(later: note, "reason")
        case .kick(let members, let ban, let durationMs, let note):
            if members.count != 1 {
                self.combine("members")
                self.combine(Int64(members.count))
            }
            // A single member keeps the hash from before a command could name several.
            for member in members { self.combine(member) }
            self.combine(isPresent: ban)
            self.combine(note)
            self.combine(later: durationMs.map(String.init), "durationMs")
        case .unban(let member, let note):
            self.combine(member)
            self.combine(later: note, "reason")
        case .addTracks(let tracks):
            self.combine(Int64(tracks.count))
            for track in tracks { self.combine(track) }
        case .removeTracks(let tracks):
            self.combine(Int64(tracks.count))
            for track in tracks { self.combine(track) }
        case .setWaveform(let track, let waveform):
            self.combine(track)
            self.combine(waveform.name.description)
        case .setDuration(let track, let durationMs):
            self.combine(track)
            self.combine(durationMs)
        case .setMissing(let tracks):
            self.combine(Int64(tracks.count))
            for track in tracks { self.combine(track) }
        case .vote(let track): self.combine(track)
        case .unvote(let track): self.combine(track)
        case .enqueue(let track, let index):
            self.combine(track)
            self.combine(index.map(Int64.init))
        case .dequeue(let entry): self.combine(entry)
        case .move(let entry, let index):
            self.combine(entry)
            self.combine(Int64(index))
        case .play(let entry): self.combine(entry.map { Int64($0.rawValue) })
        case .pause(let entry), .resume(let entry), .skip(let entry): self.combine(laterEntry: entry)
        case .seek(let positionMs, let entry):
            self.combine(positionMs)
            self.combine(laterEntry: entry)
        case .finish(let entry, let isMissing):
            self.combine(entry)
            // A finish of a song that is there keeps the hash from before the field existed.
            if isMissing { self.combine("missing") }
        case .voteSkip(let entry), .unvoteSkip(let entry): self.combine(entry)
        case .syncDeck(let deck): self.combine(deck)
        case .replaceOwner(let owner): self.combine(owner)
        case .endMembership(let session, let reason):
            self.combine(session.description)
            self.combine(reason.rawValue)
        case .leave, .countSkipVotes: break
        }
    }

    private mutating func combine(_ deck: Deck) {
        self.combine(Int64(deck.queue.count))
        for item in deck.queue { self.combine(item) }
        switch deck.playback {
        case .stopped: self.combine(isPresent: false)
        case .onAir(let item, let isPaused, let positionMs, let at, let startedAt, let playedMs):
            self.combine(isPresent: true)
            self.combine(item)
            self.combine(isPresent: isPaused)
            self.combine(positionMs)
            self.combine(at.milliseconds)
            self.combine(later: startedAt.map { String($0.milliseconds) }, "startedAtMs")
            self.combine(later: playedMs.map { String($0) }, "playedMs")
        }
        self.combine(later: deck.known.map { String($0.rawValue) }, "known")
        // A deck that was not offline keeps the hash from before the field existed.
        guard !deck.played.isEmpty else { return }
        self.combine("played")
        self.combine(Int64(deck.played.count))
        for played in deck.played {
            self.combine(played.item)
            self.combine(played.startedAt.milliseconds)
            self.combine(played.playedMs)
            self.combine(played.reason.rawValue)
            self.combine(played.endedAt?.milliseconds)
        }
    }

    private mutating func combine(_ item: Deck.Item) {
        switch item {
        case .track(let track):
            self.combine("track")
            self.combine(track)
        case .entry(let entry):
            self.combine("entry")
            self.combine(entry)
        }
    }

    private mutating func combine(_ update: RoomUpdate) {
        self.combine(update.name)
        self.combine(update.location?.latitude)
        self.combine(update.location?.longitude)
        self.combine(isPresent: update.clearLocation)
        self.combine(update.visibility?.rawValue)
        self.combine(update.settings)
        self.combine(later: update.note, "reason")
    }

    private mutating func combine(_ settings: SettingsUpdate) {
        self.combine(settings.queueMode?.rawValue)
        self.combine(settings.skipRatio)
        self.combine(settings.maxWaitingPerMember.map(Int64.init))
        self.combine(settings.repeatAfterPlays.map(Int64.init))
        // Without the field, the hash is the same as before the field existed.
        if let guestsMayAdd = settings.guestsMayAdd {
            self.combine("guestsMayAdd")
            self.combine(isPresent: guestsMayAdd)
        }
        self.combine(later: settings.queueLocked.map { "\($0)" }, "queueLocked")
        self.combine(later: settings.slowModeMs.map { "\($0)" }, "slowModeMs")
        self.combine(later: settings.ownerAwayMs.map { "\($0)" }, "ownerAwayMs")
        self.combine(later: settings.countedAcrossRooms.map { "\($0)" }, "countedAcrossRooms")
    }

    private mutating func combine(_ track: TrackInfo) {
        self.combine(track.source)
        self.combine(track.sourceID)
        self.combine(track.title)
        self.combine(track.artist)
        self.combine(track.album)
        self.combine(track.durationMs)
        self.combine(track.artworkURL)
    }
}
