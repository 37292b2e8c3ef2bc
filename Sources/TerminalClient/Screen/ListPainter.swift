/// The heading and the visible rows of one list.
struct ListPainter {
    let list: ListKind
    let model: ScreenModel
    let view: ViewState
    let area: Plan.Area
    let signs: Signs

    init(_ list: ListKind, _ model: ScreenModel, _ view: ViewState, _ area: Plan.Area, _ signs: Signs) {
        self.list = list
        self.model = model
        self.view = view
        self.area = area
        self.signs = signs
    }

    private var hasKeys: Bool { view.focus == list }

    func lines() -> [Line] {
        let rows = model.rows[list] ?? []
        var lines = [Painter.headline(title, hasKeys: hasKeys, note: place(of: rows.count), area.width, signs)]
        if rows.isEmpty, area.rows > 0 {
            var line = Line(signs)
            let text = list == .pool && !view.filter.isEmpty ? "Nothing found" : list.nothing
            line.put(text, at: 3, within: area.width - 3, ink: .faint)
            lines.append(line)
        }
        let first = view.top[list, default: 0]
        for (offset, row) in rows.enumerated() {
            lines.append(line(row, isChosen: hasKeys && first + offset == view.selected[list, default: 0]))
        }
        return lines
    }

    private var title: String {
        let count = Painter.grouped(model.counts[list, default: 0])
        guard list == .pool, !view.filter.isEmpty else { return "\(list.title) \(count)" }
        return "\(list.title) /\(view.filter) \(count) of \(Painter.grouped(model.poolSize))"
    }

    /// Which rows are seen, where not all are.
    private func place(of visible: Int) -> String? {
        let count = model.counts[list, default: 0]
        guard hasKeys, visible > 0, visible < count else { return nil }
        let first = view.top[list, default: 0]
        return "\(Painter.grouped(first + 1))\(signs.dash)\(Painter.grouped(first + visible))"
    }

    private func line(_ row: ScreenModel.Row, isChosen: Bool) -> Line {
        var line = Line(signs, background: isChosen ? .chosen : nil)
        if isChosen { line.put(signs.pointer, at: 0, within: 1) }
        var (begin, end) = (2, area.width - 1)
        switch list {
        case .members:
            let sign = row.isOnline.map { $0 ? signs.live : signs.away } ?? " "
            line.put(sign, at: 2, within: 1, ink: row.isOnline == true ? .good : .faint)
            begin = 4
        case .queue:
            line.put("\(row.place ?? 0)", endingAt: 4)
            begin = 5
        case .requests, .pool:
            if row.votes > 0 { line.put(Painter.grouped(row.votes), endingAt: 5) }
            let sign = row.isPending ? signs.ellipsis : row.isMine ? signs.mine : ""
            line.put(sign, at: 6, within: 1, ink: .mine)
            begin = 8
        }
        if row.isOnAir {
            line.put(signs.playing, at: begin, within: 1, ink: .accent)
            begin += 2
        }
        if let length = row.length, area.width >= 36 { end = line.put(ClockText.of(length), endingAt: end) - 1 }
        if let person = row.person, list == .members || area.width >= 56 {
            let room = max(0, min(14, list == .members ? end - begin - 6 : (end - begin) / 3))
            let name = TextWidth.fitted(SafeText.line(person), to: room, ellipsis: signs.ellipsis).text
            end = line.put(name, endingAt: end, ink: .faint) - 1
        }
        let ink: Ink = row.isMine ? .mine : .plain
        let taken = line.put(row.title, at: begin, within: end - begin, ink: ink)
        if let artist = row.artist, end - begin - taken > 6 {
            line.put(" \(signs.dash) \(artist)", at: begin + taken, within: end - begin - taken, ink: .faint)
        }
        return line
    }
}
