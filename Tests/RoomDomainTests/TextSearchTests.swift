import RoomTestSupport
import Synchronization
import Testing

@testable import RoomDomain

@Suite struct TextSearchTests {
    @Test func `a search finds what the table says, and nothing else`() throws {
        let table = try SearchCase.all()
        #expect(table.count > 150)
        for row in table {
            let search = TextSearch(row.query)
            #expect(search.finds(title: row.title, artist: row.artist, album: row.album) == row.found, "\(row)")
            let info = TrackInfo(source: "s", sourceID: "1", title: row.title, artist: row.artist, album: row.album)
            let room = RoomScenario.given(RoomScenario.people).after(.addTracks([info])).room
            let page = room.poolPage(PoolQuery(start: .first(.title), text: row.query, limit: 1))
            #expect(page.tracks.isEmpty != row.found, "\(row)")
        }
    }

    @Test func `a key is folded once, and a key of its own form is itself`() {
        for text in ["Semi‐Charmed Life", "½ Life", "!!!", "한국 노래", "हिन्दी", "ﷺ", "AC/DC", "❤️ Me"] {
            let bytes = SearchKey(text).bytes
            #expect(SearchKey(String(decoding: bytes, as: UTF8.self)).bytes == bytes, "\(text)")
        }
    }

    @Test func `the key of a track is kept, unless it is much longer than its texts`() {
        func isKept(_ title: String) -> Bool {
            let shared = SharedTrackInfo(TrackInfo(source: "s", sourceID: "1", title: title))
            let key = shared.searchKey
            #expect(shared.searchKey == key && key == SearchKey(title, nil, nil))
            return shared.searching.load() != nil
        }
        #expect(isKept("Slow Station") && isKept("한국 노래"))
        #expect(!isKept(String(repeating: "\u{FDFA}", count: 300)))
    }

    @Test func `a page examines each word in the texts, and no more tracks than its work allows`() {
        let info = TrackInfo(source: "s", sourceID: "1", title: "abc", artist: "def")
        let track = SharedTrackInfo(info)
        var examined = 0
        #expect(TextSearch("").isIn(track, examined: &examined) && examined == 0)
        // Seven bytes: two texts and what separates them from each other and from the album, which is missing.
        let length = track.searchKey.bytes.count
        #expect(!TextSearch("x c").isIn(track, examined: &examined) && examined == length)
        #expect(TextSearch("c e d").isIn(track, examined: &examined) && examined == 4 * length)
    }
}
