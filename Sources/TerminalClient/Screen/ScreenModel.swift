/// The lists of a screen, in the order in which Tab goes through them.
package enum ListKind: Int, Sendable, CaseIterable {
    case requests, queue, pool, members

    var title: String {
        switch self {
        case .requests: "Requests"
        case .queue: "Up next"
        case .pool: "All tracks"
        case .members: "Members"
        }
    }

    /// What stands in place of rows where there are none.
    var nothing: String {
        switch self {
        case .requests: "No votes yet"
        case .queue: "The queue is empty"
        case .pool: "No tracks"
        case .members: "Nobody"
        }
    }

    /// The list after this one, or before it.
    func next(_ step: Int) -> ListKind {
        let all = Self.allCases
        return all[(rawValue + step + all.count) % all.count]
    }
}

/// Everything that a screen shows of a room; of lists, the visible rows only.
package struct ScreenModel: Sendable, Equatable {
    package enum Link: Sendable, Equatable {
        case connecting
        case live
        case catchingUp
        /// Since a time of day, and why.
        case offline(since: String, reason: String?)
    }

    package struct OnAir: Sendable, Equatable {
        package var title: String
        package var artist: String?
        package var position: Duration
        package var length: Duration?
        package var isPaused = false
        package var skipVotes = 0
        /// RMS values, 0 … 255; empty if there is no waveform.
        package var levels: [UInt8] = []

        package init(title: String, artist: String? = nil, position: Duration, length: Duration? = nil) {
            self.title = title
            self.artist = artist
            self.position = position
            self.length = length
        }
    }

    package struct Row: Sendable, Equatable {
        package var title: String
        package var artist: String?
        package var length: Duration?
        package var votes = 0
        package var isMine = false
        package var isPending = false
        package var isOnAir = false
        /// The place in the queue, from 1.
        package var place: Int?
        /// Who added an entry to the queue, or a member's role.
        package var person: String?
        /// Of a member: whether it is here; nil if that is not known, and for songs.
        package var isOnline: Bool?

        package init(_ title: String, artist: String? = nil) {
            self.title = title
            self.artist = artist
        }
    }

    package var name = ""
    package var code = ""
    package var online: Int?
    package var isMember = false
    /// Whether the person runs deck and queue.
    package var isDJ = false
    package var link = Link.connecting
    package var onAir: OnAir?
    package var counts: [ListKind: Int] = [:]
    /// The tracks of the whole pool, of which a filter may leave some.
    package var poolSize = 0
    /// From ``ViewState/top`` on.
    package var rows: [ListKind: [Row]] = [:]
    /// What has happened, newest first.
    package var news: [String] = []

    package init() {}
}

/// What the person in front of the screen has done with it.
package struct ViewState: Sendable, Equatable {
    package var focus = ListKind.requests
    package var selected: [ListKind: Int] = [:]
    package var top: [ListKind: Int] = [:]
    /// What titles and artists of the pool must have in them.
    package var filter = ""
    package var isEditingFilter = false
    package var showsHelp = false
    /// The answer to the last key, until the next one.
    package var notice: String?

    package init() {}

    /// Moves the selection of the list that has the keys.
    package mutating func move(by step: Int, of count: Int) {
        let now = selected[focus, default: 0]
        selected[focus] = min(max(0, count - 1), max(0, now.addingReportingOverflow(step).partialValue))
    }

    /// Scrolls a list so that its selection is among `height` visible rows; returns the visible ones.
    package mutating func visible(_ list: ListKind, of count: Int, height: Int) -> Range<Int> {
        guard height > 0, count > 0 else { return 0..<0 }
        let chosen = min(max(0, selected[list, default: 0]), count - 1)
        selected[list] = chosen
        var first = top[list, default: 0]
        if chosen < first { first = chosen }
        if chosen >= first + height { first = chosen - height + 1 }
        first = min(max(0, first), max(0, count - height))
        top[list] = first
        return first..<min(count, first + height)
    }
}
