/// The number of columns and rows of a terminal.
package struct ScreenSize: Sendable, Equatable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// What a terminal shows, so that only the lines are sent that are others than before.
package struct Frame: Sendable {
    private var shown: [String] = []
    private var size: ScreenSize?

    package init() {}

    /// Forgets what is shown: everything is sent next.
    package mutating func invalidate() { size = nil }

    /// The bytes that turn what is shown into these lines; empty if nothing is to be changed.
    package mutating func update(to lines: [Line], _ size: ScreenSize, _ palette: Palette) -> [UInt8] {
        var out = ""
        if size != self.size {
            out += "\u{1B}[0m\u{1B}[2J"
            shown = []
        }
        let new = (0..<size.rows).map { row in
            row < lines.count ? lines[row].rendered(width: size.columns, palette) : "\u{1B}[0m\u{1B}[K"
        }
        for (row, line) in new.enumerated() where row >= shown.count || shown[row] != line {
            out += "\u{1B}[\(row + 1);1H" + line
        }
        (shown, self.size) = (new, size)
        return Array(out.utf8)
    }
}
