import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

@Suite struct PoolPageTests {
    /// A pool of songs, some of them with votes from Ana and Bob.
    private static func pool(_ random: inout SeededRandom, tracks: Int) -> RoomScenario {
        let letters = Array("abcABC 12éÉß") + ["e\u{301}"]
        func text(_ random: inout SeededRandom) -> String {
            "x" + String((0..<4).map { _ in random.pick(letters, or: "a") }) + "x"
        }
        var added: [TrackInfo] = []
        for _ in 0..<tracks {
            var info = TrackInfo.titled(text(&random))
            info.artist = random.once(in: 3) ? nil : text(&random)
            info.album = random.once(in: 3) ? nil : text(&random)
            added.append(info)
        }
        var room = RoomScenario.given(RoomScenario.people).after(.addTracks(added))
        for _ in 0..<tracks {
            let track = TrackID(rawValue: .random(in: 1...tracks, using: &random))
            room = room.after(.vote(track: track), by: random.once(in: 2) ? .ana : .bob)
        }
        return room
    }

    /// All tracks in an order, sorted anew.
    private static func sorted(_ room: RoomState, by sort: PoolSort) -> [TrackID] {
        switch sort {
        case .title: room.poolOrder
        case .votes: room.requestOrder() + room.poolOrder.filter { room.tracks[$0]?.votes == 0 }
        case .added: room.tracks.keys.sorted()
        }
    }

    /// Whether a text has every word of a query, by the protocol's rule in short: of letters that these tests have.
    private static func has(_ query: String, in texts: [String?]) -> Bool {
        func words(_ text: String) -> [String] {
            text.lowercased().replacing("e\u{301}", with: "e").replacing("\u{E9}", with: "e").replacing("ß", with: "ss")
                .split(separator: " ").map(String.init)
        }
        return words(query).allSatisfy { wanted in
            texts.contains { text in
                let words = words(text ?? "")
                return words.contains { $0.contains(wanted) }
                    || words.indices.contains { words[$0...].joined().hasPrefix(wanted) }
            }
        }
    }

    @Test(arguments: PoolSort.allCases, [1, 2, 7, 100]) func `pages are the pool in its order`(
        sort: PoolSort, limit: Int
    ) {
        for seed in TestSeed.fixed(0..<2) {
            print("pages of a pool, seed \(seed)")
            var random = SeededRandom(seed: seed)
            let room = Self.pool(&random, tracks: 40).room
            for text in ["", "é", "E\u{301}", "b", "1 ", "ß2", "xx", "b 1", "xb", "no such text"] {
                let expected = Self.sorted(room, by: sort).filter { id in
                    guard let info = room.tracks[id]?.info else { return false }
                    return Self.has(text, in: [info.title, info.artist, info.album])
                }
                var found: [TrackID] = []
                var start: PoolQuery.Start? = .first(sort)
                while let from = start {
                    let page = room.poolPage(PoolQuery(start: from, text: text, limit: limit))
                    found += page.tracks.map(\.id)
                    start = page.next.map { .after($0) }
                    #expect(page.tracks.count == limit || start == nil, "seed \(seed)")
                }
                #expect(found == expected, "seed \(seed), \(text)")
            }
        }
    }

    @Test(arguments: PoolSort.allCases) func `tracks that come and go between pages do not move others`(sort: PoolSort)
    {
        for seed in TestSeed.fixed(0..<4) {
            print("pages of a pool that changes, seed \(seed)")
            var random = SeededRandom(seed: seed)
            var scenario = Self.pool(&random, tracks: 40)
            var staying = Set(scenario.room.tracks.keys)
            var found: [TrackID] = []
            var start: PoolQuery.Start? = .first(sort)
            while let from = start {
                let page = scenario.room.poolPage(PoolQuery(start: from, limit: 3))
                found += page.tracks.map(\.id)
                start = page.next.map { .after($0) }
                // Often the last track of the page, after which the next one begins.
                let removed = random.once(in: 2) ? page.tracks.last?.id : scenario.room.tracks.keys.min()
                if let removed {
                    staying.remove(removed)
                    scenario = scenario.after(.removeTracks([removed]))
                }
                guard scenario.room.nextTrack < 60 else { continue }
                scenario = scenario.after(.addTracks([.titled("xa new"), .titled("xé new"), .titled("y new")]))
            }
            #expect(found.filter(staying.contains) == Self.sorted(scenario.room, by: sort).filter(staying.contains))
            #expect(Set(found).count == found.count, "seed \(seed)")
        }
    }

    @Test func `a position that no track had is valid`() {
        let room = RoomScenario.given(RoomScenario.songs).room
        func tracks(after place: PoolPlace) -> [Int] {
            room.poolPage(PoolQuery(start: .after(place), limit: 10)).tracks.map(\.id.rawValue)
        }
        #expect(tracks(after: .title(Array("g".utf8), 9)) == [1, 3, 2])
        #expect(tracks(after: .title([0xFF, 0xFE], 1)) == [])
        #expect(tracks(after: .noVotes([], .init(rawValue: .max))) == [4, 1, 3, 2])
        #expect(tracks(after: .votes(1, requestedSeq: .max, .init(rawValue: .max))) == [4, 1, 3, 2])
        #expect(tracks(after: .added(.init(rawValue: .max))) == [])
    }

    @Test(arguments: PoolSort.allCases) func `a page ends when its work is used up, and the next one continues`(
        sort: PoolSort
    ) {
        for seed in TestSeed.fixed(0..<5) {
            print("pages with little work, seed \(seed)")
            var random = SeededRandom(seed: seed)
            let room = Self.pool(&random, tracks: 40).room
            for text in ["", "b", "no such text"] {
                let whole = room.poolPage(PoolQuery(start: .first(sort), text: text, limit: 100))
                #expect(whole.next == nil)
                var work = PoolWork()
                if random.once(in: 2) { work.examined = 300 } else { work.page = 1 }
                var (found, pages): ([TrackID], Int) = ([], 0)
                var start: PoolQuery.Start? = .first(sort)
                while let from = start {
                    let page = room.pool.page(PoolQuery(start: from, text: text, limit: 100), work: work)
                    found += page.tracks.map(\.id)
                    start = page.next.map { .after($0) }
                    pages += 1
                }
                #expect(found == whole.tracks.map(\.id), "seed \(seed), \(text)")
                #expect(pages > (work.page == 1 ? found.count - 1 : 5) && pages <= 41, "seed \(seed), \(text)")
            }
        }
    }

    @Test func `words are found within words and from the beginning of one on`() {
        for seed in TestSeed.fixed(0..<200) {
            print("a search, seed \(seed)")
            var random = SeededRandom(seed: seed)
            func text(_ length: ClosedRange<Int>) -> String {
                let letters = (0..<Int.random(in: length, using: &random)).map { _ in
                    random.once(in: 4) ? " " : random.once(in: 3) ? "b" : "a"
                }
                return "a" + letters.joined() + "b"
            }
            var info = TrackInfo.titled(text(1...20))
            info.artist = random.once(in: 2) ? text(1...20) : nil
            info.album = random.once(in: 2) ? text(1...20) : nil
            let room = RoomScenario.given(RoomScenario.people).after(.addTracks([info])).room
            for _ in 0..<10 {
                let wanted = text(1...6)
                let isThere = Self.has(wanted, in: [info.title, info.artist, info.album])
                let page = room.poolPage(PoolQuery(start: .first(.title), text: wanted, limit: 1))
                #expect(page.tracks.isEmpty != isThere, "seed \(seed), \(wanted)")
            }
        }
    }
}
