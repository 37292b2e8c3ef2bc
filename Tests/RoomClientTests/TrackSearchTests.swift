import RoomDomain
import RoomTestSupport
import Testing

@testable import RoomClient

@Suite struct TrackSearchTests {
    @Test func `songs are found as the table says`() throws {
        for row in try SearchCase.all() {
            let search = TrackSearch(row.query)
            #expect(search.finds(title: row.title, artist: row.artist, album: row.album) == row.found, "\(row)")
            let info = RoomDomain.TrackInfo(
                source: "f", sourceID: "1", title: row.title, artist: row.artist, album: row.album)
            #expect(search.finds(SharedTrackInfo(info)) == row.found, "\(row)")
        }
    }

    @Test func `searches of the same words are equal`() {
        #expect(TrackSearch("Jay‑Z") == TrackSearch("jay-z "))
        #expect(TrackSearch("Jay Z") != TrackSearch("jay-z"))
        #expect(TrackSearch(" \u{301}").isEmpty && !TrackSearch("!!!").isEmpty)
    }
}
