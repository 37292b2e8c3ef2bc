import RoomClient

extension RoomFacts {
    /// Takes the changes of one update, and tells what they mean for people.
    mutating func take(_ changes: [RoomChange]) -> [RoomNews] {
        let before = self
        var news: [RoomNews] = []
        for change in changes { take(change, &news) }
        return news.filter { isNews($0, since: before) }
    }

    /// What follows from something else in the same update is not told.
    func isNews(_ news: RoomNews, since before: RoomFacts) -> Bool {
        switch news {
        case .votes(let track, 0, _):
            // A track's votes are spent where it is queued, and when the room has chosen it.
            let known = Set(before.queue.map(\.number))
            let isQueued = queue.contains { $0.track == track && !known.contains($0.number) }
            return !isQueued && !(onAir?.track == track && onAir?.entry != before.onAir?.entry)
        case .dequeued(let entry): return onAir?.entry != entry.number
        // One song follows another: only the new one is told.
        case .stopped: return onAir == nil
        case .skipVote(isCast: false):
            // Who leaves the room takes the vote along.
            let gone = (before.onAir?.skipVoters ?? []).subtracting(onAir?.skipVoters ?? [])
            return gone.isEmpty || gone.contains { people[$0] != nil }
        case .votes, .queued, .reordered, .onAir, .paused, .resumed, .moved, .skipVote, .finished, .joined,
            .left, .renamed, .role, .tracksAdded, .tracksRemoved, .named, .closed, .online, .membership:
            return true
        }
    }

    private mutating func take(_ change: RoomChange, _ news: inout [RoomNews]) {
        switch change {
        case .details(let details):
            if details.name != name { news.append(.named(details.name)) }
            if details.closedAt != nil, !isClosed { news.append(.closed) }
            (name, isClosed) = (details.name, details.closedAt != nil)
        case .member(let member): take(member, &news)
        case .memberLeft(let member):
            guard let person = people[member.rawValue] else { return }
            people[member.rawValue] = nil
            news.append(.left(member.rawValue, person.name))
        case .tracksAdded(let tracks):
            for track in tracks { songs[track.id.rawValue] = Song(track) }
            news.append(.tracksAdded(tracks.map(\.id.rawValue)))
        case .tracksRemoved(let tracks):
            // Titles are needed to say which ones they were.
            let removed = tracks.compactMap { track in songs.removeValue(forKey: track.rawValue).map { (track, $0) } }
            news.append(.tracksRemoved(removed.map { RoomNews.Removed(number: $0.0.rawValue, title: $0.1.title) }))
        case .votes(let track, let votes, let isMine):
            guard let song = songs[track.rawValue] else { return }
            if song.votes != votes || song.isMine != isMine {
                news.append(.votes(track.rawValue, votes, isMine: isMine == song.isMine ? nil : isMine))
            }
            songs[track.rawValue]?.votes = votes
            songs[track.rawValue]?.isMine = isMine
        case .duration(let track, let length): songs[track.rawValue]?.length = length
        case .waveform, .missing: break
        case .queue(let entries): take(entries.map { Entry($0) }, &news)
        case .playback(let playback): take(playback.map { OnAir($0) }, &news)
        case .finished(let entry):
            news.append(.finished(entry.track.rawValue, title: entry.title, entry.end))
        case .membership(let membership):
            let member = membership?.member.rawValue
            if member != me { news.append(.membership(member)) }
            me = member
        case .online(let count):
            if count != online { news.append(.online(count)) }
            online = count
        }
    }

    private mutating func take(_ member: Member, _ news: inout [RoomNews]) {
        let number = member.id.rawValue
        if let known = people[number] {
            if known.name != member.name { news.append(.renamed(number, from: known.name, to: member.name)) }
            if known.role != member.role { news.append(.role(number, member.name, member.role)) }
        } else {
            news.append(.joined(number, member.name, member.role))
        }
        people[number] = Person(name: member.name, role: member.role)
    }

    private mutating func take(_ entries: [Entry], _ news: inout [RoomNews]) {
        let before = Set(queue.map(\.number))
        // An entry whose command is on its way has a number below zero, and another one later.
        let confirmed = entries.filter { $0.number >= 0 }
        let now = Set(confirmed.map(\.number))
        for entry in queue where !now.contains(entry.number) { news.append(.dequeued(entry)) }
        for (place, entry) in confirmed.enumerated() where !before.contains(entry.number) {
            news.append(.queued(entry, place: place + 1))
        }
        let kept = queue.filter { now.contains($0.number) }.map(\.number)
        if kept != confirmed.filter({ before.contains($0.number) }).map(\.number) { news.append(.reordered) }
        queue = confirmed
    }

    private mutating func take(_ new: OnAir?, _ news: inout [RoomNews]) {
        defer { onAir = new }
        guard let new else {
            if onAir != nil { news.append(.stopped) }
            return
        }
        guard let old = onAir, old.entry == new.entry else {
            news.append(.onAir)
            return
        }
        if old.isPaused != new.isPaused {
            news.append(new.isPaused ? .paused(new.position) : .resumed(new.position))
        } else if old.position != new.position || old.at != new.at {
            // A change of the votes to skip leaves position and time as they were.
            news.append(.moved(new.position))
        }
        if old.skipVotes != new.skipVotes { news.append(.skipVote(isCast: new.skipVotes > old.skipVotes)) }
    }
}
