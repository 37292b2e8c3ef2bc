import GeoSearch

/// Makes a room, and decides the changes that its owner asks for.
extension RoomState {
    /// Returns the first two events of a new room: its creation, and the owner's joining as member 1.
    ///
    /// The caller ensures that the code is unique among open rooms and that the founder does not own too many rooms.
    /// The location is rounded to cells of `cell` metres.
    package static func found(
        _ founding: RoomFounding, cell: Double = RoundedLocation.usualCell
    ) throws(RoomRefusal) -> [RoomEvent] {
        let name = try NameRule.require(founding.name, "name", RoomLimits.roomName)
        let founderName = try NameRule.require(founding.founderName, "name", RoomLimits.memberName)
        let settings = try RoomSettings().changed(by: founding.settings)
        let room = RoomCreated(
            id: founding.id, code: founding.code, name: name, location: founding.location?.rounded(toCellsOf: cell),
            visibility: founding.visibility, settings: settings)
        let owner = MemberID(rawValue: 1)
        return [
            .roomCreated(room),
            .memberJoined(member: owner, name: founderName, role: .owner, session: founding.founder),
        ]
    }

    /// The event contains only the values that differ; there is no event if none does.
    func updateRoom(_ update: RoomUpdate, by: MemberID?, cell: Double) throws(RoomRefusal) -> [RoomEvent] {
        guard update.location == nil || !update.clearLocation else {
            throw .badRequest("location and clearLocation exclude each other")
        }
        var changes = RoomChanges()
        if let name = update.name {
            let accepted = try NameRule.require(name, "name", RoomLimits.roomName)
            if accepted != self.name { changes.name = accepted }
        }
        let cellLocation = update.location?.rounded(toCellsOf: cell)
        if let cellLocation, cellLocation != location { changes.location = cellLocation }
        changes.locationCleared = update.clearLocation && location != nil
        if let visibility = update.visibility, visibility != self.visibility { changes.visibility = visibility }
        let settings = try self.settings.changed(by: update.settings)
        if settings != self.settings { changes.settings = settings }
        let note = try Self.accepted(note: update.note)
        guard changes != RoomChanges() else { return [] }
        changes.by = by
        changes.note = note
        return [.roomUpdated(changes)]
    }

    func closeRoom(forget: Bool, by: MemberID?, _ note: String?) throws(RoomRefusal) -> [RoomEvent] {
        let note = try Self.accepted(note: note)
        return isForgotten ? [] : [.roomClosed(forget: forget, by: by, note: note)]
    }

    /// Returns the note, trimmed; refuses a note that breaks the rule.
    static func accepted(note: String?) throws(RoomRefusal) -> String? {
        guard let note else { return nil }
        return try TextRule.require(note, "reason", RoomLimits.note)
    }
}

extension RoomSettings {
    /// Returns the settings with `update` applied; refuses values out of range.
    func changed(by update: SettingsUpdate) throws(RoomRefusal) -> RoomSettings {
        var settings = self
        if let mode = update.queueMode { settings.queueMode = mode }
        if let ratio = update.skipRatio {
            guard (0.0...1.0).contains(ratio) else { throw .badRequest("skipRatio must be 0 to 1") }
            // Adding zero turns −0 into 0.
            settings.skipRatio = ratio + 0
        }
        func set(
            _ field: WritableKeyPath<RoomSettings, Int>, to value: Int?, _ name: String, in range: ClosedRange<Int>
        ) throws(RoomRefusal) {
            guard let value else { return }
            guard range.contains(value) else { throw .badRequest("\(name) must be 0 to \(range.upperBound)") }
            settings[keyPath: field] = value
        }
        try set(\.maxWaitingPerMember, to: update.maxWaitingPerMember, "maxWaitingPerMember", in: 0...RoomLimits.queue)
        try set(\.repeatAfterPlays, to: update.repeatAfterPlays, "repeatAfterPlays", in: 0...RoomLimits.tracks)
        try set(\.slowModeMs, to: update.slowModeMs, "slowModeMs", in: RoomLimits.slowModeMs)
        try set(\.ownerAwayMs, to: update.ownerAwayMs, "ownerAwayMs", in: RoomLimits.ownerAwayMs)
        settings.guestsMayAdd = update.guestsMayAdd ?? settings.guestsMayAdd
        settings.queueLocked = update.queueLocked ?? settings.queueLocked
        settings.countedAcrossRooms = update.countedAcrossRooms ?? settings.countedAcrossRooms
        return settings
    }
}
