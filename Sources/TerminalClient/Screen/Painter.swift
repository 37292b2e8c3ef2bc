/// Turns what a screen shows into its lines.
package struct Painter: Sendable {
    let model: ScreenModel
    let view: ViewState
    let plan: Plan
    let signs: Signs

    private var width: Int { plan.size.columns }

    package init(_ model: ScreenModel, _ view: ViewState, _ plan: Plan, _ signs: Signs) {
        self.model = model
        self.view = view
        self.plan = plan
        self.signs = signs
    }

    /// The lines from the top, one for each row of the terminal.
    package func lines() -> [Line] {
        var lines = Array(repeating: Line(signs), count: plan.size.rows)
        func set(_ row: Int, _ line: Line) {
            if lines.indices.contains(row) { lines[row] = line }
        }
        set(0, heading)
        if plan.size.rows >= 5 { set(1, linkLine) }
        for (place, line) in onAir.enumerated() { set(plan.onAirRow + place, line) }
        if view.showsHelp {
            for (place, line) in help.enumerated() where plan.listsRow + place < plan.size.rows - 1 {
                set(plan.listsRow + place, line)
            }
        } else {
            for (list, area) in plan.lists.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                place(ListPainter(list, model, view, area, signs).lines(), at: area, &lines)
            }
            if let area = plan.news { place(newsLines(in: area), at: area, &lines) }
        }
        if plan.size.rows > 2 { set(plan.size.rows - 1, bottom) }
        return lines.map { $0.cut(to: width) }
    }

    private func place(_ block: [Line], at area: Plan.Area, _ lines: inout [Line]) {
        for (offset, line) in block.prefix(area.height).enumerated() where area.row + offset < lines.count {
            lines[area.row + offset].put(line, at: area.column, within: area.width)
        }
    }

    // MARK: The room

    private var heading: Line {
        var line = Line(signs)
        let (text, ink) = state
        let begin = line.put(text, endingAt: width - 1, ink: ink)
        let name = line.put(model.name, at: 1, within: min(begin - 3, width - 12), ink: .strong)
        let code = "\(signs.dot) \(model.code)"
        if begin - name - 4 > code.count { line.put(code, at: name + 2, within: code.count, ink: .plain) }
        return line
    }

    private var state: (String, Ink) {
        let here = model.online.map { " \(signs.dot) \(Self.grouped($0)) here" } ?? ""
        return switch model.link {
        case .connecting: ("\(signs.lost) connecting", .warning)
        case .live: ("\(signs.live) live\(here)", .good)
        case .catchingUp: ("\(signs.lost) catching up", .warning)
        case .offline: ("\(signs.lost) offline", .warning)
        }
    }

    /// A rule, or what everybody has to see: that the room may be another one by now.
    private var linkLine: Line {
        guard case .offline(let since, let reason) = model.link else {
            var line = Line(signs)
            line.put(String(repeating: signs.rule, count: width), at: 0, within: width, ink: .faint)
            return line
        }
        var line = Line(signs, background: .warning)
        var texts = ["No connection since \(since). Trying again.", "Offline since \(since), trying again"]
        if let reason { texts.insert("No connection since \(since): \(reason). Trying again.", at: 0) }
        let text = texts.first { TextWidth.of($0) <= width - 2 } ?? "Offline since \(since)"
        line.put(text, at: 1, within: width - 2, ink: .warning)
        return line
    }

    // MARK: On air

    private var onAir: [Line] {
        var title = Line(signs)
        guard let song = model.onAir else {
            title.put("\(signs.stopped) Nothing on air", at: 1, within: width - 2, ink: .faint)
            return [title]
        }
        var end = width - 1
        if song.skipVotes > 0 {
            let text = song.skipVotes == 1 ? "1 vote to skip" : "\(song.skipVotes) votes to skip"
            if width >= 60 { end = title.put(text, endingAt: end, ink: .warning) - 2 }
        }
        title.put(song.isPaused ? signs.paused : signs.playing, at: 1, within: 2, ink: .accent)
        let taken = title.put(song.title, at: 3, within: end - 3, ink: .strong)
        if let artist = song.artist, end - 3 - taken > 6 {
            title.put(" \(signs.dash) \(artist)", at: 3 + taken, within: end - 3 - taken)
        }
        guard plan.size.rows >= 5 else { return [title] }
        return [title] + waveform(of: song) + [bar(of: song)]
    }

    private func waveform(of song: ScreenModel.OnAir) -> [Line] {
        let columns = width - 2
        guard plan.waveformRows > 0, columns > 0 else { return [] }
        let heard = WaveformBars.heard(song.position, of: song.length, columns: columns)
        return WaveformBars.rows(of: song.levels, columns: columns, rows: plan.waveformRows, signs).map { bars in
            var line = Line(signs)
            line.put(bars.prefix(heard).joined(), at: 1, within: heard, ink: .accent)
            line.put(bars.dropFirst(heard).joined(), at: 1 + heard, within: columns - heard, ink: .faint)
            return line
        }
    }

    private func bar(of song: ScreenModel.OnAir) -> Line {
        var line = Line(signs)
        let position = song.length.map { min($0, song.position) } ?? song.position
        let now = ClockText.of(position) + (song.isPaused ? " paused" : "")
        let before = line.put(now, at: 1, within: width - 2, ink: song.isPaused ? .warning : .plain) + 2
        guard let length = song.length else { return line }
        let total = ClockText.of(length)
        let columns = width - before - total.count - 2
        guard columns >= 4 else { return line }
        let heard = min(WaveformBars.heard(position, of: length, columns: columns), columns - 1)
        line.put(String(repeating: signs.heard, count: heard), at: before, within: heard, ink: .accent)
        line.put(signs.knob, at: before + heard, within: 1, ink: .accent)
        let rest = columns - heard - 1
        line.put(String(repeating: signs.rule, count: rest), at: before + heard + 1, within: rest, ink: .faint)
        line.put(total, at: before + columns + 1, within: total.count)
        return line
    }

    // MARK: Below the lists

    private func newsLines(in area: Plan.Area) -> [Line] {
        guard area.height > 1 else {
            var line = Line(signs)
            if let newest = model.news.first { line.put(newest, at: 1, within: area.width - 2, ink: .faint) }
            return [line]
        }
        var lines = [Self.headline("Just now", hasKeys: false, note: nil, area.width, signs)]
        if model.news.isEmpty {
            var line = Line(signs)
            line.put("Nothing yet", at: 1, within: area.width - 1, ink: .faint)
            lines.append(line)
        }
        for (place, news) in model.news.prefix(area.rows).enumerated() {
            var line = Line(signs)
            line.put(news, at: 1, within: area.width - 1, ink: place == 0 ? .plain : .faint)
            lines.append(line)
        }
        return lines
    }

    private var bottom: Line {
        var line = Line(signs)
        if view.isEditingFilter {
            let cursor = signs.isASCII ? "_" : "▏"
            let end = line.put("Enter keep  Esc clear", endingAt: width - 1, ink: .faint)
            let count = "  \(Self.grouped(model.counts[.pool, default: 0])) of \(Self.grouped(model.poolSize))"
            let taken = line.put("/" + view.filter + cursor, at: 1, within: end - count.count - 2, ink: .strong)
            line.put(count, at: 1 + taken, within: max(0, end - taken - 2))
            return line
        }
        if let notice = view.notice {
            line.put(notice, at: 1, within: width - 2, ink: .warning)
            return line
        }
        var at = 1
        for (key, meaning) in keys {
            let needed = key.count + 1 + meaning.count
            guard at + needed < width else { break }
            line.put(key, at: at, within: key.count, ink: .strong)
            line.put(meaning, at: at + key.count + 1, within: meaning.count, ink: .faint)
            at += needed + 2
        }
        return line
    }

    private var keys: [(String, String)] {
        if view.showsHelp { return [("?", "back"), ("q", "quit")] }
        let first = model.isMember ? ("v", "vote") : ("j", "join")
        let deck =
            model.isDJ ? [("Space", model.onAir.map { $0.isPaused ? "go on" : "pause" } ?? "play"), ("n", "next")] : []
        return [first] + deck + [("Tab", "list"), ("/", "find"), ("?", "help"), ("q", "quit")]
    }

    private var help: [Line] {
        let up = signs.isASCII ? "Up Down" : "↑ ↓"
        let texts = [
            (up, "choose a track; PgUp PgDn a page, Home End"), ("Tab", "the next list, Shift-Tab the one before"),
            ("v, Enter", "vote for the track, or take the vote back"), ("j", "join the room"),
            ("/", "find in all tracks; Esc shows all again"), ("Ctrl-L", "draw anew"), ("q", "quit"), ("", ""),
            (signs.mine, "your vote"), (signs.playing, "on air"),
        ]
        let deck = [
            ("Space", "pause, or go on; play the first of the queue where nothing is on air"),
            ("n", "skip to the next song"), ("p", "play the entry chosen in Up next"),
            ("a", "add the track to the queue"), ("x", "take the entry out of the queue"),
        ]
        return ((model.isDJ ? deck : []) + texts).map { key, meaning in
            var line = Line(signs)
            line.put(key, at: 2, within: 10, ink: .strong)
            line.put(meaning, at: 12, within: width - 13)
            return line
        }
    }

    /// The heading of a list: its title and a rule, with a note at its end.
    static func headline(_ title: String, hasKeys: Bool, note: String?, _ width: Int, _ signs: Signs) -> Line {
        var line = Line(signs)
        var end = width
        if let note, TextWidth.of(note) + title.count + 6 <= width {
            end = line.put(note, endingAt: width, ink: .faint) - 1
        }
        let text = hasKeys ? "\(signs.pointer) \(title)" : title
        let taken = line.put(text, at: hasKeys ? 0 : 1, within: end, ink: hasKeys ? .accent : .strong)
        let begin = taken + (hasKeys ? 1 : 2)
        if end > begin {
            let rule = String(repeating: signs.rule, count: end - begin)
            line.put(rule, at: begin, within: end - begin, ink: hasKeys ? .accent : .faint)
        }
        return line
    }

    /// A number with commas between thousands.
    static func grouped(_ number: Int) -> String {
        let digits = "\(number)"
        guard digits.count > 3 else { return digits }
        var grouped = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, digit != "-", (digits.count - place) % 3 == 0, grouped != "-" { grouped += "," }
            grouped.append(digit)
        }
        return grouped
    }
}
