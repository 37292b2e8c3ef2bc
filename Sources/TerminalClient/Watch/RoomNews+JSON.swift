import RoomClient

/// The lines of `backline watch --json`, as Documentation/Terminal.md describes them.
extension RoomNews {
    /// One object; `room` is the room after it.
    func json(_ room: RoomFacts) -> SafeJSON {
        func line(_ type: String, _ members: KeyValuePairs<String, SafeJSON?> = [:]) -> SafeJSON {
            guard case .object(let fields) = SafeJSON.fields(members) else { return .null }
            return .object([("type", .text(type)), ("seq", .number(Int64(room.sequence)))] + fields)
        }
        func song(_ track: Int) -> SafeJSON { room.json(ofTrack: track) }
        switch self {
        case .votes(let track, let votes, _):
            return line(
                "votes",
                [
                    "track": song(track), "votes": .number(Int64(votes)),
                    "isMine": .bool(room.songs[track]?.isMine ?? false),
                ])
        case .queued(let entry, let place):
            return line("queued", ["entry": room.json(of: entry), "place": .number(Int64(place))])
        case .dequeued(let entry): return line("dequeued", ["entry": room.json(of: entry)])
        case .reordered: return line("queue", ["queue": .list(room.queue.map { room.json(of: $0) })])
        case .onAir, .stopped, .paused, .resumed, .moved, .skipVote: return line("playback", ["onAir": room.onAirJSON])
        case .finished(let track, let title, let end):
            return line(
                "finished",
                [
                    "track": .number(Int64(track)), "title": .text(title),
                    "reason": .text(end.rawValue),
                ])
        case .joined(let member, let name, let role):
            return line(
                "joined",
                ["member": .number(Int64(member)), "name": .text(name), "role": .text(role.rawValue)])
        case .left(let member, let name): return line("left", ["member": .number(Int64(member)), "name": .text(name)])
        case .renamed(let member, _, let name):
            return line("renamed", ["member": .number(Int64(member)), "name": .text(name)])
        case .role(let member, let name, let role):
            return line(
                "role", ["member": .number(Int64(member)), "name": .text(name), "role": .text(role.rawValue)])
        case .tracksAdded(let tracks): return line("tracksAdded", ["tracks": .list(tracks.map(song))])
        case .tracksRemoved(let tracks):
            let removed = tracks.map {
                SafeJSON.fields(["track": .number(Int64($0.number)), "title": .text($0.title)])
            }
            return line("tracksRemoved", ["tracks": .list(removed)])
        case .named(let name): return line("named", ["name": .text(name)])
        case .closed: return line("closed")
        case .online(let count): return line("online", ["online": .number(Int64(count))])
        case .membership(let member): return line("membership", ["member": member.map { .number(Int64($0)) } ?? .null])
        }
    }
}

extension RoomFacts {
    /// The room as a whole: the first line, and after a connection that was lost for too long.
    var json: SafeJSON {
        .fields([
            "type": .text("room"), "seq": .number(Int64(sequence)), "room": .text(id), "code": .text(code),
            "name": .text(name), "online": online.map { .number(Int64($0)) },
            "member": me.map { .number(Int64($0)) }, "onAir": onAirJSON,
            "queue": .list(queue.map { json(of: $0) }),
            "requests": .list(
                requests.map { track in
                    .fields([
                        "track": json(ofTrack: track), "votes": .number(Int64(songs[track]?.votes ?? 0)),
                        "isMine": .bool(songs[track]?.isMine ?? false),
                    ])
                }),
            "members": .number(Int64(people.count)), "tracks": .number(Int64(songs.count)),
        ])
    }

    /// `null` if nothing is on air.
    var onAirJSON: SafeJSON {
        guard let onAir else { return .null }
        return .fields([
            "entry": .number(Int64(onAir.entry)), "track": json(ofTrack: onAir.track),
            "status": .text(onAir.isPaused ? "paused" : "playing"), "positionMs": .number(onAir.position.milliseconds),
            "atMs": .number(onAir.at), "skipVotes": .number(Int64(onAir.skipVotes)),
        ])
    }

    func json(ofTrack track: Int) -> SafeJSON {
        let song = songs[track]
        return .fields([
            "number": .number(Int64(track)), "title": song.map { .text($0.title) },
            "artist": song?.artist.map { .text($0) }, "durationMs": song?.length.map { .number($0.milliseconds) },
        ])
    }

    func json(of entry: Entry) -> SafeJSON {
        .fields([
            "number": .number(Int64(entry.number)), "track": json(ofTrack: entry.track),
            "addedBy": entry.addedBy.map { .number(Int64($0)) },
        ])
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    var milliseconds: Int64 {
        components.seconds &* 1_000 &+ components.attoseconds / 1_000_000_000_000_000
    }
}
