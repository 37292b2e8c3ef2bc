import Testing

@testable import TerminalClient

@Suite struct ScreenTests {
    private let signs = Signs(isASCII: false)

    /// A room whose lists have as many rows as the plan asks for.
    private func screen(
        _ columns: Int, _ rows: Int, counts: Int = 10_000, ascii: Bool = false,
        _ change: (inout ScreenModel, inout ViewState) -> Void = { _, _ in }
    ) -> (lines: [Line], plan: Plan, looked: Int) {
        let size = ScreenSize(columns: columns, rows: rows)
        var model = ScreenModel()
        var view = ViewState()
        (model.name, model.code, model.online, model.isMember, model.link) = ("Kitchen", "7KQ2ZM", 23, true, .live)
        var song = ScreenModel.OnAir(
            title: "Blue Monday", artist: "New Order", position: .seconds(83), length: .seconds(449))
        song.levels = (0..<1_024).map { UInt8($0 / 4) }
        song.skipVotes = 2
        model.onAir = song
        for list in ListKind.allCases { model.counts[list] = counts }
        model.poolSize = counts
        model.news = ["“Song” now has 3 votes.", "Ben joined."]
        change(&model, &view)
        let plan = Plan(
            size, counts: model.counts, focus: view.focus, isOnAir: model.onAir != nil,
            hasWaveform: model.onAir?.levels.isEmpty == false)
        var looked = 0
        for (list, area) in plan.lists {
            let visible = view.visible(list, of: model.counts[list] ?? 0, height: area.rows)
            looked += visible.count
            model.rows[list] = visible.map { place in
                var row = ScreenModel.Row("東京 Title \(place)", artist: "Artist 🎵")
                (row.length, row.votes, row.isMine, row.person) = (.seconds(place), place % 3, place == 1, "Chloë")
                row.place = place + 1
                row.isOnline = place.isMultiple(of: 2)
                return row
            }
        }
        return (Painter(model, view, plan, Signs(isASCII: ascii)).lines(), plan, looked)
    }

    @Test func `keys of the deck are shown to those who run it`() {
        func text(_ isDJ: Bool, help: Bool) -> String {
            screen(120, 40) { model, view in (model.isDJ, view.showsHelp) = (isDJ, help) }.lines.map(\.text)
                .joined(separator: "\n")
        }
        #expect(text(true, help: false).contains("Space pause  n next"))
        #expect(!text(false, help: false).contains("Space"))
        #expect(text(true, help: true).contains("take the entry out of the queue"))
        #expect(!text(false, help: true).contains("take the entry out of the queue"))
    }

    @Test func `no size breaks a screen, and no line is wider than it`() {
        let changes: [(inout ScreenModel, inout ViewState) -> Void] = [
            { _, _ in }, { model, _ in model.onAir = nil }, { _, view in view.showsHelp = true },
            { model, _ in model.link = .offline(since: "14:03:22", reason: "party.example cannot be reached") },
            { _, view in (view.focus, view.isEditingFilter, view.filter) = (.pool, true, "blue 東京") },
            { _, view in view.notice = "Not done: \u{1B}[31m" }, { model, _ in model.onAir?.length = nil },
            { _, view in (view.focus, view.selected) = (.members, [.members: 9_999]) },
            { model, view in (model.isMember, view.focus) = (false, .queue) },
            { model, view in (model.isDJ, view.showsHelp) = (true, true) },
        ]
        for columns in [1, 2, 3, 5, 8, 12, 17, 20, 23, 36, 40, 57, 79, 99, 100, 101, 120, 300] {
            for rows in [1, 2, 3, 4, 5, 6, 7, 9, 13, 14, 24, 26, 36, 60] {
                for (number, change) in changes.enumerated() {
                    for ascii in [false, true] {
                        let screen = screen(
                            columns, rows, counts: number.isMultiple(of: 2) ? 10_000 : 2, ascii: ascii, change)
                        #expect(screen.lines.count == rows)
                        for line in screen.lines where line.end > columns || TextWidth.of(line.text) > columns {
                            Issue.record("\(columns) × \(rows), \(number): \(line.text)")
                        }
                        if ascii {
                            let isASCII = screen.lines.allSatisfy {
                                $0.text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
                            }
                            #expect(isASCII, "\(columns) × \(rows)")
                        }
                    }
                }
            }
        }
    }

    @Test func `of ten thousand tracks, only the visible ones are looked at`() {
        #expect(screen(120, 40).looked < 120)
        #expect(screen(40, 24).looked < 24)
    }

    @Test func `the chosen row is always visible`() {
        var view = ViewState()
        view.focus = .pool
        for step in [1, 1, 9_000, -30, 5_000, -20_000, 17] {
            view.move(by: step, of: 10_000)
            let visible = view.visible(.pool, of: 10_000, height: 20)
            #expect(visible.contains(view.selected[.pool, default: 0]))
            #expect(visible.count == 20)
        }
        #expect(view.visible(.pool, of: 5, height: 20) == 0..<5)
        #expect(view.visible(.pool, of: 0, height: 20).isEmpty)
    }

    @Test func `a narrow screen has the lists below each other, a wide one beside`() {
        let narrow = screen(40, 24).lines.map(\.text)
        #expect(narrow[0].hasPrefix(" Kitchen · 7KQ2ZM") && narrow[0].hasSuffix("● live · 23 here"))
        for title in ["Requests", "Up next", "All tracks", "Members"] {
            #expect(narrow.filter { $0.contains(title) }.count == 1)
        }
        let wide = screen(120, 40).lines.map(\.text)
        #expect(wide.contains { $0.contains("Up next") && $0.contains("All tracks") && $0.contains("Members") })
        #expect(wide.contains { $0.contains("“Song” now has 3 votes.") })
    }

    @Test func `a lost connection is told in words`() {
        let text = screen(100, 30) { model, _ in
            model.link = .offline(since: "14:03:22", reason: "nothing listens there")
        }.lines.map(\.text)
        #expect(text[0].hasSuffix("○ offline"))
        #expect(text[1] == " No connection since 14:03:22: nothing listens there. Trying again.")
    }

    @Test func `a hostile title changes nothing but its own row`() {
        let screen = screen(80, 24) { model, _ in
            model.onAir?.title = "\u{1B}[2J\u{1B}]0;x\u{7}\u{202E}evil\r\n"
            model.name = "\u{9B}5mroom"
        }
        let bytes = screen.lines.map { $0.rendered(width: 80, Palette(hasColours: true)) }.joined()
        #expect(!bytes.contains("\u{1B}[2J") && !bytes.contains("\u{1B}]") && !bytes.contains("\u{202E}"))
        #expect(!bytes.unicodeScalars.contains { $0.value == 0x9B || $0.value == 0x0D || $0.value == 7 })
    }

    @Test func `without colours, no colour is asked for`() {
        let lines = screen(120, 40).lines
        let plain = lines.map { $0.rendered(width: 120, Palette(hasColours: false)) }.joined()
        #expect(plain.firstRange(of: /\u{1B}\[[0-9;]*[34][0-7]m/) == nil)
        let coloured = lines.map { $0.rendered(width: 120, Palette(hasColours: true)) }.joined()
        #expect(coloured.firstRange(of: /\u{1B}\[0;1;36m/) != nil)
    }

    @Test func `only lines that have changed are sent`() {
        var frame = Frame()
        let palette = Palette(hasColours: false)
        let size = ScreenSize(columns: 80, rows: 24)
        let first = frame.update(to: screen(80, 24).lines, size, palette)
        #expect(first.count > 500)
        #expect(frame.update(to: screen(80, 24).lines, size, palette) == [])
        let later = screen(80, 24) { model, _ in model.onAir?.position = .seconds(84) }.lines
        let tick = frame.update(to: later, size, palette)
        #expect(!tick.isEmpty && tick.count < 600)
        let again = frame.update(to: later, ScreenSize(columns: 80, rows: 25), palette)
        #expect(String(decoding: again, as: UTF8.self).contains("\u{1B}[2J"))
    }

    @Test func `after a character of uncertain width, columns are named`() {
        var line = Line(signs)
        line.put("👨‍👩‍👧", at: 0, within: 10)
        line.put("3:45", endingAt: 20)
        let sent = line.rendered(width: 40, Palette(hasColours: false))
        #expect(sent.contains("\u{1B}[17G") && sent.hasPrefix("\u{1B}[2K"))
        var plain = Line(signs)
        plain.put("東京", at: 0, within: 10)
        plain.put("3:45", endingAt: 20)
        #expect(!plain.rendered(width: 40, Palette(hasColours: false)).contains("G"))
    }

    @Test func `a waveform has its song's shape`() {
        #expect(WaveformBars.heights(of: [0, 0, 255, 255], columns: 2, steps: 8) == [0, 8])
        #expect(WaveformBars.heights(of: [10, 20], columns: 4, steps: 8) == [4, 4, 8, 8])
        #expect(WaveformBars.heights(of: [0, 0], columns: 3, steps: 8) == [0, 0, 0])
        #expect(
            WaveformBars.rows(of: [0, 128, 255], columns: 3, rows: 2, signs) == [[" ", " ", "█"], ["▁", "█", "█"]])
        #expect(WaveformBars.heard(.seconds(30), of: .seconds(60), columns: 10) == 5)
        #expect(WaveformBars.heard(.seconds(90), of: .seconds(60), columns: 10) == 10)
        #expect(WaveformBars.heard(.seconds(90), of: nil, columns: 10) == 0)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000")])
    func `thousands are grouped`(number: Int, text: String) {
        #expect(Painter.grouped(number) == text)
    }
}
