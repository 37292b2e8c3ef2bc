import RoomClient

/// Something that has happened in a room, worth a line.
enum RoomNews: Sendable, Equatable {
    struct Removed: Sendable, Equatable {
        var number: Int
        var title: String
    }

    /// The votes of a track; one's own has come or gone, or nil.
    case votes(Int, Int, isMine: Bool?)
    case queued(RoomFacts.Entry, place: Int)
    case dequeued(RoomFacts.Entry)
    case reordered
    case onAir
    case stopped
    case paused(Duration)
    case resumed(Duration)
    case moved(Duration)
    /// Somebody has voted to skip what is on air, or has taken a vote back.
    case skipVote(isCast: Bool)
    case finished(Int, title: String, HistoryEntry.End)
    case joined(Int, String, Role)
    case left(Int, String)
    case renamed(Int, from: String, to: String)
    case role(Int, String, Role)
    case tracksAdded([Int])
    case tracksRemoved([Removed])
    case named(String)
    case closed
    case online(Int)
    /// One's own number; nil: no member any more.
    case membership(Int?)

    /// A sentence for people; nil where there is nothing to say.
    ///
    /// `room` is the room after it.
    func sentence(_ room: RoomFacts, _ signs: Signs) -> String? {
        switch self {
        case .votes(let track, let votes, let isMine):
            let count = votes == 1 ? "1 vote" : "\(votes) votes"
            return switch isMine {
            case true?: "You voted for \(room.song(track, signs)): \(count)."
            case false?: "You took your vote for \(room.song(track, signs)) back: \(count)."
            case nil: "\(room.song(track, signs)) now has \(count)."
            }
        case .queued(let entry, let place):
            let who = room.person(entry.addedBy).map { ", by \($0)" } ?? ""
            return "Queued: \(room.song(entry.track, signs)), number \(place)\(who)."
        case .dequeued(let entry): return "Taken from the queue: \(room.song(entry.track, signs))."
        case .reordered:
            let songs = room.queue.prefix(5).enumerated().map { place, entry in
                "\(place + 1). \(room.song(entry.track, signs))"
            }
            let more = room.queue.count > 5 ? " and \(room.queue.count - 5) more" : ""
            return "Queue: \(songs.joined(separator: ", "))\(more)."
        case .onAir: return room.onAirSentence(signs)
        case .stopped: return "Nothing on air."
        case .paused(let position): return "Paused at \(ClockText.of(position))."
        case .resumed(let position): return "On air again, at \(ClockText.of(position))."
        case .moved(let position): return "Now at \(ClockText.of(position))."
        case .skipVote(let isCast): return isCast ? "A vote to skip." : "A vote to skip was taken back."
        case .finished(_, let title, let end): return end == .skipped ? "Skipped: \(signs.quoted(title))." : nil
        case .joined(let member, let name, _): return "\(room.people.shown(name, of: member)) joined."
        case .left(let member, let name): return "\(room.people.shown(name, of: member)) left."
        case .renamed(let member, let from, let to):
            return "\(room.people.shown(from, of: member)) is now called \(room.people.shown(to, of: member))."
        case .role(let member, let name, let role):
            let who = room.people.shown(name, of: member)
            return switch role {
            case .owner: "\(who) is now the owner."
            case .dj: "\(who) is now a DJ."
            case .guest: "\(who) is now a guest."
            }
        case .tracksAdded(let tracks):
            guard tracks.count <= 3 else { return "\(Painter.grouped(tracks.count)) tracks were added." }
            return "Added: \(tracks.map { room.song($0, signs) }.joined(separator: ", "))."
        case .tracksRemoved(let tracks):
            guard tracks.count <= 3 else { return "\(Painter.grouped(tracks.count)) tracks were removed." }
            return "Removed: \(tracks.map { signs.quoted($0.title) }.joined(separator: ", "))."
        case .named(let name): return "The room is now called \(name)."
        case .closed: return "The room is closed."
        case .online, .membership: return nil
        }
    }
}

extension RoomFacts {
    /// What is on air, with its length or how far it is.
    func onAirSentence(_ signs: Signs, at position: Duration? = nil) -> String {
        guard let onAir else { return "Nothing on air." }
        let length = songs[onAir.track]?.length
        let far = position.map { position in
            length.map { "\(ClockText.of(min(position, $0))) of \(ClockText.of($0))" } ?? ClockText.of(position)
        }
        let time = (far ?? length.map { ClockText.of($0) }).map { " (\($0))" } ?? ""
        return "\(onAir.isPaused ? "Paused" : "On air"): \(song(onAir.track, signs))\(time)."
    }

    /// The room in a few sentences, for somebody who has just come.
    ///
    /// `now` is the time of the server.
    func summary(_ signs: Signs, at now: Int64) -> [String] {
        let here = online.map { "\(Painter.grouped($0)) here" } ?? "\(Painter.grouped(people.count)) members"
        var lines = ["\(name) (\(code)): \(here), \(Painter.grouped(songs.count)) tracks."]
        lines.append(onAirSentence(signs, at: onAir.map { $0.position(at: now) }))
        if !queue.isEmpty {
            if let line = RoomNews.reordered.sentence(self, signs) { lines.append(line) }
        }
        if !requests.isEmpty {
            let songs = requests.prefix(5).map { track in
                "\(song(track, signs)) (\(self.songs[track]?.votes ?? 0))"
            }
            let more = requests.count > 5 ? " and \(Painter.grouped(requests.count - 5)) more" : ""
            lines.append("Requests, with votes: \(songs.joined(separator: ", "))\(more).")
        }
        return lines
    }

    /// The queue and the requests, one song a line.
    func listing(_ signs: Signs, at now: Int64) -> [String] {
        var lines = ["\(name) (\(code))", onAirSentence(signs, at: onAir.map { $0.position(at: now) }), ""]
        lines.append(queue.isEmpty ? "The queue is empty." : "Up next:")
        for (place, entry) in queue.enumerated() {
            let who = person(entry.addedBy).map { ", by \($0)" } ?? ""
            lines.append("  \(place + 1)  \(song(entry.track, signs)) [\(entry.track)]\(who)")
        }
        guard !requests.isEmpty else { return lines }
        lines += ["", "Requests, with votes:"]
        for track in requests { lines.append("  \(songs[track]?.votes ?? 0)  \(song(track, signs)) [\(track)]") }
        return lines
    }
}

extension RoomFacts.OnAir {
    /// How far the song is at a time of the server.
    func position(at now: Int64) -> Duration {
        guard !isPaused, now > at else { return position }
        return position + .milliseconds(now - at)
    }
}
