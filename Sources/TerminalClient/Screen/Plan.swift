/// Where the parts of a screen are, before anything is laid out: lists then give their visible rows only.
package struct Plan: Sendable, Equatable {
    package struct Area: Sendable, Equatable {
        var column: Int
        var row: Int
        var width: Int
        /// The heading and the rows.
        var height: Int

        /// The rows below the heading.
        package var rows: Int { max(0, height - 1) }
    }

    /// Columns from which lists stand side by side.
    static let wide = 100

    package let size: ScreenSize
    package private(set) var lists: [ListKind: Area] = [:]
    private(set) var news: Area?
    /// The rows of block characters.
    private(set) var waveformRows = 0
    /// The first row of what is on air, and of the lists.
    private(set) var onAirRow = 2
    private(set) var listsRow = 3

    package init(
        _ size: ScreenSize, counts: [ListKind: Int], focus: ListKind, isOnAir: Bool, hasWaveform: Bool
    ) {
        self.size = size
        guard size.rows >= 5 else {
            (onAirRow, listsRow) = (1, size.rows)
            return
        }
        if isOnAir, hasWaveform {
            waveformRows = size.rows >= 36 ? 3 : size.rows >= 26 ? 2 : size.rows >= 14 ? 1 : 0
        }
        let isRoomy = size.rows >= 14
        listsRow = onAirRow + 1 + (isOnAir ? waveformRows + 1 : 0) + (isRoomy ? 1 : 0)
        // The last row has the keys, and the one above it the news where lists stand below each other.
        let isWide = size.columns >= Self.wide
        let bottom = size.rows - 1 - (isWide || !isRoomy ? 0 : 1)
        let height = bottom - listsRow
        guard height > 0 else { return }
        if isWide {
            placeBeside(counts, height: height)
        } else {
            placeBelow(counts, focus, height: height)
            if isRoomy { news = Area(column: 0, row: bottom, width: size.columns, height: 1) }
        }
    }

    /// The queue above the requests, all tracks and members beside them, and the news below all.
    private mutating func placeBeside(_ counts: [ListKind: Int], height: Int) {
        let told = height >= 14 ? min(7, height / 5) : 0
        if told > 0 { news = Area(column: 0, row: listsRow + height - told, width: size.columns, height: told) }
        let height = height - told - (told > 0 ? 1 : 0)
        let people = min(32, max(22, size.columns / 5))
        let songs = size.columns - people - 4
        let left = songs * 9 / 20
        let queued = min(max(1, counts[.queue, default: 0]), max(1, height / 3 - 2)) + 1
        let first = listsRow
        func area(_ column: Int, _ row: Int, _ width: Int, _ height: Int) -> Area {
            Area(column: column, row: first + row, width: width, height: max(0, height))
        }
        lists[.queue] = area(0, 0, left, min(queued, height))
        lists[.requests] = area(0, queued + 1, left, height - queued - 1)
        lists[.pool] = area(left + 2, 0, songs - left, height)
        lists[.members] = area(size.columns - people, 0, people, height)
    }

    /// One list below the other: the one that has the keys is open, the others show their first rows.
    private mutating func placeBelow(_ counts: [ListKind: Int], _ focus: ListKind, height: Int) {
        let others = ListKind.allCases.filter { $0 != focus }
        guard height >= ListKind.allCases.count + 3 else {
            lists[focus] = Area(column: 0, row: listsRow, width: size.columns, height: height)
            return
        }
        let free = height - ListKind.allCases.count
        let share = free / 6
        var rows: [ListKind: Int] = [:]
        for list in others { rows[list] = min(share, counts[list, default: 0]) }
        var open = free - rows.values.reduce(0, +)
        // What the open list does not need, the others get.
        for list in others {
            let more = min(open - max(1, counts[focus, default: 0]), counts[list, default: 0] - rows[list, default: 0])
            guard more > 0 else { continue }
            rows[list, default: 0] += more
            open -= more
        }
        rows[focus] = open
        var row = listsRow
        for list in ListKind.allCases {
            lists[list] = Area(column: 0, row: row, width: size.columns, height: rows[list, default: 0] + 1)
            row += rows[list, default: 0] + 1
        }
    }
}
