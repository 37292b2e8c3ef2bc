import RoomDomain
import RoomTestSupport
import Testing

@Suite struct PoolTests {
    let songs = RoomScenario.given(RoomScenario.songs)

    @Test func `added tracks are numbered on, trimmed, and given back`() throws {
        let padded = TrackInfo(
            source: " shelf ", sourceID: " 1 ", title: "  Yes ", artist: " A ", album: " B ", durationMs: 0,
            artworkURL: " https://example.org/a.png ")
        let clean = TrackInfo(
            source: "shelf", sourceID: "1", title: "Yes", artist: "A", album: "B", durationMs: 0,
            artworkURL: "https://example.org/a.png")
        let command = RoomCommand.addTracks([padded, .titled("No")])
        let expected = RoomEvent.tracksAdded(
            tracks: [NumberedTrack(id: 5, info: clean), NumberedTrack(id: 6, info: .titled("No"))], by: 2)
        let room = songs.when(command, by: .bob, then: expected).room
        #expect(room.result(of: command, by: .bob, causing: [expected]) == .tracks([5, 6]))
        #expect(room.tracks[5] == Track(id: 5, info: clean, addedBy: 2))
    }

    @Test func `the same song may be in the pool twice`() {
        songs.when(
            .addTracks([.titled("Two")]),
            then: .tracksAdded(tracks: [NumberedTrack(id: 5, info: .titled("Two"))], by: 1))
    }

    @Test func `a batch is neither empty nor over 500`() {
        songs.refuses(.addTracks([]), with: .badRequest)
        songs.refuses(.removeTracks([]), with: .badRequest)
        songs.refuses(.addTracks(Array(repeating: .titled("x"), count: 501)), with: .limitReached)
        songs.refuses(.removeTracks(Array(repeating: 1, count: 501)), with: .limitReached)
        _ = songs.after(.addTracks(Array(repeating: .titled("x"), count: 500)))
        _ = songs.after(.removeTracks(Array(repeating: 1, count: 500)))
    }

    @Test func `a pool has at most 10,000 tracks`() throws {
        var room = songs.room
        for batch in 0..<20 {
            let count = batch == 19 ? 495 : 500
            let tracks = (0..<count).map { TrackInfo.titled("T \($0 * 7919 % 1000) \(batch)") }
            let events = try room.decide(.addTracks(tracks), by: .ana, at: room.lastEventAt)
            for event in room.recorded(events, at: room.lastEventAt) { room.evolve(event) }
        }
        #expect(room.tracks.count == 9_999)
        #expect(throws: Never.self) {
            try room.decide(.addTracks([.titled("x")]), by: .ana, at: room.lastEventAt)
        }
        #expect(throws: RoomRefusal.limitReached("a pool has at most 10000 tracks")) {
            try room.decide(.addTracks([.titled("x"), .titled("y")]), by: .ana, at: room.lastEventAt)
        }
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
    }

    @Test func `a pool has at most its budget, and a command that passes it adds nothing`() throws {
        let room = songs.room
        let track = TrackInfo.titled("x")
        let charge = Track(id: 5, info: track, addedBy: 1).charge
        let budget = PoolBudget(bytes: room.poolCharge + 2 * charge)
        let add = { (count: Int) in
            try room.decide(
                .addTracks(Array(repeating: track, count: count)), by: .ana, at: room.lastEventAt, within: budget)
        }
        #expect(throws: Never.self) { try add(2) }
        #expect(throws: RoomRefusal.limitReached("a pool has at most \(budget.bytes) bytes of tracks")) { try add(3) }
        let tight = PoolBudget(bytes: room.poolCharge + charge - 1)
        #expect(throws: RoomRefusal.limitReached("a pool has at most \(tight.bytes) bytes of tracks")) {
            try room.decide(.addTracks([track]), by: .ana, at: room.lastEventAt, within: tight)
        }
    }

    @Test func `a pool beyond the budget goes on and cannot grow`() throws {
        var room = songs.room
        let budget = PoolBudget(bytes: room.poolCharge / 2)
        func act(_ command: RoomCommand) throws -> [RoomEvent] {
            let events = try room.decide(command, by: .ana, at: room.lastEventAt, within: budget)
            for event in room.recorded(events, at: room.lastEventAt) { room.evolve(event) }
            return events
        }
        #expect(throws: RoomRefusal.self) { try act(.addTracks([.titled("x")])) }
        for command in [RoomCommand.vote(track: 1), .enqueue(track: 2, index: nil), .play(entry: nil), .skip] {
            #expect(try !act(command).isEmpty)
        }
        while room.poolCharge > budget.bytes / 2 {
            #expect(try !act(.removeTracks([try #require(room.poolOrder.first)])).isEmpty)
        }
        #expect(try !act(.addTracks([.titled("x")])).isEmpty)
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
    }

    @Test func `10,000 tracks in Devanagari with artwork fit into the default budget`() {
        // With 300 scalars each for title, artist and album they would not fit: these texts have usual lengths.
        let charge = (1...10_000).reduce(0) { sum, number in
            var info = TrackInfo(
                source: "youtube", sourceID: "dQw4w9WgXcQ\(number)", title: String(repeating: "तुझे देखा तो ये ", count: 2),
                artist: "लता मंगेशकर, कुमार सानू", album: "दिलवाले दुल्हनिया ले जायेंगे", durationMs: 302_000)
            info.artworkURL = "https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"
            return sum + Track(id: TrackID(rawValue: number), info: info, addedBy: 1).charge
        }
        #expect((4_500_000...PoolBudget.defaultBytes).contains(charge))
    }

    static let spoilt: [@Sendable (inout TrackInfo) -> Void] = [
        { $0.title = "" }, { $0.title = " \n " }, { $0.title = "a\u{85}b" },
        { $0.title = String(repeating: "x", count: 301) },
        { $0.source = "" }, { $0.source = String(repeating: "x", count: 41) }, { $0.sourceID = " " },
        { $0.sourceID = String(repeating: "x", count: 301) }, { $0.artist = "" },
        { $0.artist = String(repeating: "x", count: 301) }, { $0.album = "a\u{2029}b" },
        { $0.artworkURL = "https://a/" + String(repeating: "x", count: 2_039) },
        { $0.artworkURL = "javascript:alert(1)" }, { $0.durationMs = -1 },
        { $0.durationMs = 604_800_001 }, { $0.durationMs = .max },
    ]

    @Test(arguments: spoilt.indices) func `one bad value refuses the whole batch`(index: Int) {
        var info = TrackInfo.titled("Good")
        Self.spoilt[index](&info)
        songs.refuses(.addTracks([.titled("Fine"), info]), with: .badRequest)
    }

    @Test func `lengths count Unicode scalars`() {
        _ = songs.after(.addTracks([.titled(String(repeating: "👩‍👩‍👧", count: 60))]))
        songs.refuses(.addTracks([.titled(String(repeating: "👩‍👩‍👧", count: 61))]), with: .badRequest)
    }

    @Test func `removed tracks go with their votes and waiting entries`() {
        let room = RoomScenario.given(RoomScenario.playing).after(.vote(track: 4), by: .cyd)
            .when(.removeTracks([2, 4, 2]), by: .bob, then: .tracksRemoved(tracks: [2, 4], by: 2)).room
        #expect(Set(room.tracks.keys) == [1, 3])
        #expect(room.queue == [QueueEntry(id: 3, track: 3, addedBy: 2)])
        #expect(room.voters.isEmpty)
        #expect(room.votesOfMember.isEmpty)
        #expect(room.poolOrder == [1, 3])
        #expect(room.history.isEmpty)
    }

    @Test func `the track on air stays in the pool, paused or not`() {
        let playing = RoomScenario.given(RoomScenario.playing)
        playing.refuses(.removeTracks([2, 1]), with: .conflict)
        playing.after(.pause).refuses(.removeTracks([1]), with: .conflict)
    }

    @Test func `one unknown track refuses the whole removal`() {
        songs.refuses(.removeTracks([1, 5]), with: .notFound)
    }

    @Test func `a track number is not given out again`() {
        songs.after(.removeTracks([4])).when(
            .addTracks([.titled("Next")]),
            then: .tracksAdded(tracks: [NumberedTrack(id: 5, info: .titled("Next"))], by: 1))
    }
}
