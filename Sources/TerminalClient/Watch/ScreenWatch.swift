import RoomClient

/// A room on a whole screen.
///
/// It draws when something has changed, and once a second while a song plays; at most twenty times a second, and then
/// only the lines that are others than before.
@MainActor final class ScreenWatch {
    /// The least time between two frames.
    static let pause = Duration.milliseconds(50)
    /// The time after which an escape byte alone is the escape key.
    static let escapeTime = Duration.milliseconds(60)
    /// How long the answer to a key stays, where no other key is pressed.
    static let noticeTime = Duration.seconds(6)
    static let mostNews = 50

    private let events: WatchEvents
    private let palette: Palette
    private let signs: Signs
    private let lists: RoomLists
    private let screen = FullScreen()
    private var view = ViewState()
    private var keys = KeyParser()
    private var facts = RoomFacts()
    private var news: [String] = []
    private var levels: (name: WaveformName, values: [UInt8])?
    private var asked: WaveformName?

    private let clock = ContinuousClock()
    private var frame = Frame()
    private var lastDrawn: ContinuousClock.Instant?
    private var isDrawWaiting = false
    private var isEntered = false
    private var ticks = 0
    private var settles = 0
    private var notices = 0

    private var room: Room { events.room }

    init(_ events: WatchEvents, _ palette: Palette, _ signs: Signs) {
        self.events = events
        self.palette = palette
        self.signs = signs
        lists = RoomLists(events.room)
    }

    /// Shows the room until the person quits, or the room ends; throws why it cannot be watched.
    func run(in group: inout DiscardingTaskGroup) async throws {
        events.follow(screen, in: &group)
        defer { screen.close() }
        for await event in events.stream {
            guard try take(event, in: &group) else { return }
        }
    }

    // MARK: Events

    /// False when it is time to go.
    private func take(_ event: WatchEvents.Event, in group: inout DiscardingTaskGroup) throws -> Bool {
        switch event {
        case .changed:
            events.observeStage()
            if case .ended = room.phase { return true }
            // What was selected stays selected where votes have moved it.
            lists.follow(&view)
        case .pool:
            events.observePool()
            lists.poolHasChanged()
            lists.follow(&view)
        case .members:
            events.observeMembers()
            lists.membersHaveChanged()
        case .update(let update): try take(update)
        case .fault(let fault):
            guard !isEntered, ![401, 403, 404].contains(fault.response?.status) else { break }
            throw TerminalFailure(ClientError(.unavailable, fault.reason, cause: fault))
        case .ended(let error):
            if let error { throw TerminalFailure(error, room: events.reference.description) }
            return false
        case .terminal(let event): return try take(event, in: &group)
        case .tick(let number): guard number == ticks else { return true }
        case .draw: isDrawWaiting = false
        case .settle(let number):
            guard number == settles else { return true }
            for key in keys.settle() { guard press(key, in: &group) else { return false } }
        case .waveform(let name, let waveform):
            if let waveform { levels = (name, waveform.levels) }
        case .notice(let notice): show(notice, in: &group)
        }
        draw(in: &group)
        return true
    }

    private func take(_ update: RoomUpdate) throws {
        switch update {
        case .offline: break
        case .ended(let error): throw TerminalFailure(error, room: events.reference.description)
        case .reset:
            guard let snapshot = events.session.client.snapshot(of: events.reference) else { return }
            facts = RoomFacts(snapshot)
            guard !isEntered else { return }
            try events.session.remember(Configuration.Room(code: facts.code, name: facts.name))
            if snapshot.requests.isEmpty { view.focus = .pool }
            isEntered = true
            screen.enter()
        case .changed(let changes, _):
            for change in facts.take(changes) {
                if let sentence = change.sentence(facts, signs) { news.insert(sentence, at: 0) }
            }
            if news.count > Self.mostNews { news.removeLast(news.count - Self.mostNews) }
        }
    }

    private func take(_ event: FullScreen.Event, in group: inout DiscardingTaskGroup) throws -> Bool {
        switch event {
        case .stop, .closed: return false
        case .resized: frame.invalidate()
        case .suspend:
            screen.suspend()
            return true
        case .continued:
            guard isEntered else { return true }
            screen.enter()
            frame.invalidate()
            lastDrawn = nil
        case .bytes(let bytes):
            for key in keys.take(bytes) { guard press(key, in: &group) else { return false } }
            settles += 1
            if keys.isWaiting { events.tell(.settle(settles), after: Self.escapeTime, in: &group) }
        }
        draw(in: &group)
        return true
    }

    // MARK: Keys

    /// False for the key that quits.
    private func press(_ key: Key, in group: inout DiscardingTaskGroup) -> Bool {
        view.notice = nil
        let count = lists.counts[view.focus] ?? 0
        let page = max(1, plan.lists[view.focus].map(\.rows) ?? 1)
        switch key {
        case .up: view.move(by: -1, of: count)
        case .down: view.move(by: 1, of: count)
        case .pageUp: view.move(by: -page, of: count)
        case .pageDown: view.move(by: page, of: count)
        case .home: view.move(by: -count, of: count)
        case .end: view.move(by: count, of: count)
        case .tab, .right: if !view.isEditingFilter { view.focus = view.focus.next(1) }
        case .backTab, .left: if !view.isEditingFilter { view.focus = view.focus.next(-1) }
        case .escape:
            if view.showsHelp {
                view.showsHelp = false
            } else {
                (view.filter, view.isEditingFilter) = ("", false)
                lists.find("")
            }
        case .enter:
            if view.isEditingFilter { view.isEditingFilter = false } else { vote(in: &group) }
        case .backspace, .delete:
            guard view.isEditingFilter else { break }
            if view.filter.isEmpty { view.isEditingFilter = false } else { view.filter.removeLast() }
            lists.find(view.filter)
        case .control("l"): frame.invalidate()
        case .control: break
        case .character(let character):
            guard view.isEditingFilter else { return press(character, count, in: &group) }
            if view.filter.count < 80 { view.filter.append(character) }
            view.selected[.pool] = 0
            lists.find(view.filter)
        }
        lists.choose(view)
        return true
    }

    private func press(_ character: Character, _ count: Int, in group: inout DiscardingTaskGroup) -> Bool {
        switch character {
        case "q": return false
        case "?": view.showsHelp.toggle()
        case "/":
            (view.focus, view.isEditingFilter, view.showsHelp) = (.pool, true, false)
        case " " where isDJ: playOrPause(in: &group)
        case "n" where isDJ: skip(in: &group)
        case "p" where isDJ, "x" where isDJ: change(character, in: &group)
        case "a" where isDJ: enqueue(in: &group)
        case "v", " ": vote(in: &group)
        case "j":
            if room.me == nil { join(in: &group) } else { view.move(by: 1, of: count) }
        case "k": view.move(by: -1, of: count)
        default: break
        }
        lists.choose(view)
        return true
    }

    private func vote(in group: inout DiscardingTaskGroup) {
        guard let track = lists.track(view.focus, view.selected[view.focus, default: 0]) else {
            if view.focus == .members { show("Votes are for tracks: Tab goes to a list of them.", in: &group) }
            return
        }
        guard room.me != nil else {
            show("Only members vote: j joins the room.", in: &group)
            return
        }
        tell(track.isMine ? .unvote(track.id) : .vote(for: track.id), in: &group)
    }

    // MARK: A DJ's keys

    private var isDJ: Bool { room.me.map { $0.role != .guest } ?? false }

    private func playOrPause(in group: inout DiscardingTaskGroup) {
        guard let playback = room.playback else {
            if room.queue.isEmpty {
                show("The queue is empty: a adds the chosen track.", in: &group)
            } else {
                tell(.play(), in: &group)
            }
            return
        }
        tell(playback.isPaused ? .resume(playback.entry) : .pause(playback.entry), in: &group)
    }

    private func skip(in group: inout DiscardingTaskGroup) {
        guard let playback = room.playback else {
            show("Nothing is on air.", in: &group)
            return
        }
        tell(.skip(playback.entry), in: &group)
    }

    /// Plays the chosen entry of the queue, or takes it out.
    private func change(_ key: Character, in group: inout DiscardingTaskGroup) {
        let row = view.selected[.queue, default: 0]
        guard view.focus == .queue, room.queue.indices.contains(row) else {
            show("Choose an entry in Up next first: Tab goes there.", in: &group)
            return
        }
        let entry = room.queue[row].id
        tell(key == "p" ? .play(entry) : .dequeue(entry), in: &group)
    }

    private func enqueue(in group: inout DiscardingTaskGroup) {
        guard let track = lists.track(view.focus, view.selected[view.focus, default: 0]) else {
            show("Choose a track first: Tab goes to a list of them.", in: &group)
            return
        }
        tell(.enqueue(track.id), in: &group, "Queued: \(signs.quoted(track.info.title)).")
    }

    /// Gives the room a command; `notice` is shown when it is done.
    private func tell(_ command: Command, in group: inout DiscardingTaskGroup, _ notice: String? = nil) {
        let room = room
        events.tell(in: &group) {
            do throws(ClientError) {
                try await room.send(command)
                return .notice(notice)
            } catch {
                return .notice(Self.sentence(error))
            }
        }
    }

    private func join(in group: inout DiscardingTaskGroup) {
        let room = room
        events.tell(in: &group) {
            do throws(ClientError) {
                try await room.join()
                return .notice("You have joined the room.")
            } catch {
                return .notice(Self.sentence(error))
            }
        }
    }

    private nonisolated static func sentence(_ error: ClientError) -> String? {
        // Votes that cancel out before they were sent, and the end of the program.
        if [.superseded, .cancelled].contains(error.code) { return nil }
        return "Not done: \(TerminalFailure(error).message)."
    }

    private func show(_ notice: String?, in group: inout DiscardingTaskGroup) {
        guard let notice else { return }
        notices += 1
        view.notice = notice
        let number = notices
        events.tell(in: &group) { [weak self] in
            try? await Task.sleep(for: Self.noticeTime)
            await self?.takeBack(number)
            return .draw
        }
    }

    private func takeBack(_ number: Int) {
        if number == notices { view.notice = nil }
    }

    // MARK: Drawing

    private var plan: Plan {
        let playback = room.playback
        let waveform = playback.flatMap { room.track($0.track)?.waveform }
        return Plan(
            screen.size, counts: lists.counts, focus: view.focus, isOnAir: playback != nil,
            hasWaveform: waveform != nil && levels?.name == waveform)
    }

    private func draw(in group: inout DiscardingTaskGroup) {
        guard isEntered, !isDrawWaiting else { return }
        if let lastDrawn {
            let since = lastDrawn.duration(to: clock.now)
            guard since >= Self.pause else {
                isDrawWaiting = true
                events.tell(.draw, after: Self.pause - since, in: &group)
                return
            }
        }
        lastDrawn = clock.now
        let plan = plan
        var model = ScreenModel()
        describe(&model)
        for (list, area) in plan.lists {
            let visible = view.visible(list, of: model.counts[list] ?? 0, height: area.rows)
            model.rows[list] = lists.rows(list, visible)
        }
        let bytes = frame.update(to: Painter(model, view, plan, signs).lines(), plan.size, palette)
        if !bytes.isEmpty { screen.write(bytes) }
        askForWaveform(in: &group)
        // The next second of the song.
        ticks += 1
        if let song = model.onAir, !song.isPaused {
            let rest = 1_000 - song.position.milliseconds % 1_000
            events.tell(.tick(ticks), after: .milliseconds(max(20, rest)), in: &group)
        }
    }

    private func describe(_ model: inout ScreenModel) {
        model.name = room.details?.name ?? ""
        model.code = room.code ?? ""
        model.online = room.online
        model.isMember = room.me != nil
        model.isDJ = isDJ
        model.counts = lists.counts
        model.poolSize = room.pool.count
        model.news = news
        switch room.phase {
        case .connecting: model.link = .connecting
        case .live, .ended: model.link = .live
        case .catchingUp: model.link = .catchingUp
        case .offline(let since):
            model.link = .offline(since: TimeOfDay.text(since), reason: events.session.faults.newest)
        }
        guard let playback = room.playback else { return }
        let track = room.track(playback.track)
        let now = events.session.now
        var song = ScreenModel.OnAir(
            title: track?.info.title ?? "track \(playback.track.rawValue)", artist: track?.info.artist,
            position: max(.zero, playback.position(at: now)), length: track?.duration)
        song.isPaused = playback.isPaused
        song.skipVotes = room.countedSkipVotes
        if let levels, levels.name == track?.waveform { song.levels = levels.values }
        model.onAir = song
    }

    /// Fetches the waveform of the song on air, once.
    private func askForWaveform(in group: inout DiscardingTaskGroup) {
        guard case .live = room.phase, let playback = room.playback, let name = room.track(playback.track)?.waveform,
            levels?.name != name, asked != name
        else { return }
        asked = name
        let (client, reference) = (events.session.client, events.reference)
        events.tell(in: &group) { .waveform(name, try? await client.waveform(name, of: reference)) }
    }
}
