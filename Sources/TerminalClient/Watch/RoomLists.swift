import RoomClient

/// The lists of a room as a screen shows them: of ten thousand tracks, only the visible ones are looked at.
@MainActor final class RoomLists {
    private let room: Room
    /// The tracks of the pool that the filter leaves; nil: all.
    private var found: [Track]?
    private var filter = ""
    private var members: (sorted: [Member], looks: NameLooks)?
    /// The track or member at the selection, which stays selected when rows move.
    private var chosen: [ListKind: Int] = [:]

    init(_ room: Room) { self.room = room }

    var pool: [Track] { found ?? room.pool }

    /// Tracks have come or gone.
    func poolHasChanged() {
        let filter = filter
        self.filter = ""
        find(filter)
    }

    func membersHaveChanged() { members = nil }

    /// Leaves the tracks with all words of a text in title, artist or album.
    func find(_ filter: String) {
        guard filter != self.filter else { return }
        self.filter = filter
        found = TrackSearch(filter).isEmpty ? nil : room.tracks(with: filter)
    }

    /// The number of rows of each list.
    var counts: [ListKind: Int] {
        [
            .requests: room.requests.count, .queue: room.queue.count, .pool: pool.count,
            .members: people.count,
        ]
    }

    /// The track at a row; nil for members, and where there is none.
    func track(_ list: ListKind, _ row: Int) -> Track? {
        switch list {
        case .requests: room.requests.indices.contains(row) ? room.requests[row] : nil
        case .queue: room.queue.indices.contains(row) ? room.track(room.queue[row].track) : nil
        case .pool: pool.indices.contains(row) ? pool[row] : nil
        case .members: nil
        }
    }

    /// Remembers what is selected, after a key.
    func choose(_ view: ViewState) { chosen[view.focus] = identity(view.focus, view.selected[view.focus, default: 0]) }

    /// Selects again what was selected, where rows have moved.
    func follow(_ view: inout ViewState) {
        for list in ListKind.allCases {
            guard let sought = chosen[list] else { continue }
            let row = view.selected[list, default: 0]
            guard row > 0 || list == view.focus, identity(list, row) != sought else { continue }
            if let moved = rows(list).first(where: { identity(list, $0) == sought }) {
                view.selected[list] = moved
            } else {
                chosen[list] = identity(list, row)
            }
        }
    }

    private func rows(_ list: ListKind) -> Range<Int> { 0..<(counts[list] ?? 0) }

    private func identity(_ list: ListKind, _ row: Int) -> Int? {
        switch list {
        case .requests, .pool: track(list, row)?.id.rawValue
        case .queue: room.queue.indices.contains(row) ? room.queue[row].id.rawValue : nil
        case .members: people.indices.contains(row) ? people[row].id.rawValue : nil
        }
    }

    /// Members: who is here before who is not, then by number.
    ///
    /// They are as they were when the newest change was taken; counts and rows come from the same ones.
    private var people: [Member] { knownMembers.sorted }

    private var knownMembers: (sorted: [Member], looks: NameLooks) {
        if let members { return members }
        let online = room.onlineMembers
        let sorted = room.members.values.sorted { left, right in
            let (here, there) = (online?.contains(left.id) ?? true, online?.contains(right.id) ?? true)
            return here == there ? left.id < right.id : here
        }
        var looks = NameLooks()
        for member in sorted { looks.add(member.name) }
        let known = (sorted, looks)
        members = known
        return known
    }

    private func shownName(of member: Member) -> String {
        knownMembers.looks.shown(member.name, of: member.id.rawValue)
    }

    /// The visible rows of a list.
    func rows(_ list: ListKind, _ visible: Range<Int>) -> [ScreenModel.Row] {
        switch list {
        case .requests: visible.map { row(of: room.requests[$0]) }
        case .pool: visible.map { row(of: pool[$0]) }
        case .queue: visible.map { row(ofEntry: $0) }
        case .members: visible.map { row(of: people[$0]) }
        }
    }

    private func row(of track: Track) -> ScreenModel.Row {
        var row = ScreenModel.Row(track.info.title, artist: track.info.artist)
        row.length = track.duration
        row.votes = track.votes
        row.isMine = track.isMine
        row.isPending = track.isPending
        row.isOnAir = room.playback?.track == track.id
        return row
    }

    private func row(ofEntry place: Int) -> ScreenModel.Row {
        let entry = room.queue[place]
        var row = room.track(entry.track).map { self.row(of: $0) } ?? ScreenModel.Row("track \(entry.track.rawValue)")
        row.place = place + 1
        row.person = entry.addedBy.flatMap { room.members[$0] }.map { shownName(of: $0) }
        return row
    }

    private func row(of member: Member) -> ScreenModel.Row {
        var row = ScreenModel.Row(shownName(of: member))
        let role: String? =
            switch member.role {
            case .owner: "owner"
            case .dj: "DJ"
            case .guest: nil
            }
        row.isMine = room.me?.member == member.id
        row.person = row.isMine ? role.map { "you, \($0)" } ?? "you" : role
        row.isOnline = room.onlineMembers?.contains(member.id)
        return row
    }
}
