package import RoomDomain

/// The JSON of a room as clients see it (protocol, section 4).
package enum StateJSON {
    /// The `State` object; nothing private is in it.
    ///
    /// O(members + tracks + queue), and a sort of the tracks that have votes.
    package static func encode(_ state: RoomState) -> [UInt8] {
        // About what a track takes in the pool, so that large rooms are written without growing the array often.
        var writer = JSONWriter(capacity: 1_024 + state.poolOrder.count * 192 + state.members.count * 80)
        writer.beginObject()
        writer.member("id", state.id.uuid)
        writer.member("code", state.code.description)
        writer.member("name", state.name)
        writer.member("createdAt", state.createdAt)
        writer.member("closedAt", state.closedAt)
        writer.member("visibility", choice: state.visibility)
        writer.member("location", state.location)
        writer.member("settings", state.settings)
        writer.members(ofMembers: state)
        writer.members(ofPool: state)
        writer.member("requests", ids: state.requestOrder())
        writer.members(ofQueue: state.queue)
        writer.members(ofPlayback: state.onAir)
        writer.members(ofHistory: state.history)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func members(ofMembers state: RoomState) {
        self.name("members")
        self.beginArray()
        for member in state.members.values.sorted(by: { $0.id < $1.id }) {
            self.beginObject()
            self.member("member", id: member.id)
            self.member("name", member.name)
            self.member("role", choice: member.role)
            self.member("joinedAt", member.joinedAt)
            self.endObject()
        }
        self.endArray()
    }

    fileprivate mutating func members(ofPool state: RoomState) {
        self.name("pool")
        self.beginArray()
        for id in state.poolOrder {
            guard let track = state.tracks[id] else { continue }
            self.beginObject()
            self.members(of: track)
            self.endObject()
        }
        self.endArray()
    }

    /// The members of a track in the pool.
    mutating func members(of track: Track) {
        self.member("track", id: track.id)
        self.members(of: track.info)
        self.member("addedBy", id: track.addedBy)
        self.member("votes", track.votes)
        self.member("requestedSeq", track.requestedSeq)
    }

    /// The waiting entries, in play order.
    mutating func members(ofQueue queue: [QueueEntry], withTurns: Bool = false) {
        self.name("queue")
        self.beginArray()
        for entry in queue {
            self.beginObject()
            self.member("entry", id: entry.id)
            self.member("track", id: entry.track)
            self.member("addedBy", id: entry.addedBy)
            if withTurns, entry.turnOf != entry.addedBy { self.member("turnOf", id: entry.turnOf) }
            self.endObject()
        }
        self.endArray()
    }

    fileprivate mutating func members(ofPlayback onAir: OnAir?) {
        self.name("playback")
        self.beginObject()
        if let onAir {
            self.member("status", onAir.isPaused ? "paused" : "playing")
            self.member("entry", id: onAir.entry)
            self.member("track", id: onAir.track)
            self.member("startedBy", id: onAir.startedBy)
            self.member("startedAt", onAir.startedAt)
            self.member("startedSeq", onAir.startedSeq)
            self.member("positionMs", onAir.positionMs)
            self.member("atMs", onAir.at)
            self.member("skipVotes", onAir.skipVoters.count)
        } else {
            self.member("status", "stopped")
        }
        self.endObject()
    }

    /// What was on air, newest first.
    mutating func members(ofHistory history: [HistoryEntry]) {
        self.name("history")
        self.beginArray()
        for entry in history {
            self.beginObject()
            self.members(of: entry)
            self.endObject()
        }
        self.endArray()
    }
}
