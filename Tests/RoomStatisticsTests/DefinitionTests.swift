import FoundationEssentials
import RoomDomain
import RoomStatistics
import Testing

/// The definitions of `Documentation/Statistics.md`, as numbers.
@Suite struct DefinitionTests {
    @Test(
        arguments: [
            (nil, 30_000), (0, 30_000), (9_999, 30_000), (10_000, 10_000), (29_999, 29_999), (30_000, 30_000),
            (59_999, 30_000), (60_001, 30_001), (61_000, 30_500), (200_000, 100_000), (479_999, 240_000),
            (480_000, 240_000), (3_600_000, 240_000),
        ] as [(Int64?, Int64)])
    func `a song is played when it was heard for long enough`(durationMs: Int64?, required: Int64) {
        #expect(PlayRule.required(durationMs: durationMs) == required)
    }

    /// The hashes were computed by another program.
    @Test func `a song is known by artist and title, as pools compare them`() {
        let known = [
            ("Artist", "Title", "7f5dd0e3-a842-e7fc-df41-7ada85e31ff0"),
            ("ARTIST", "tiTLE", "7f5dd0e3-a842-e7fc-df41-7ada85e31ff0"),
            ("Ártist", "Straße", "ef588d68-26d3-b005-8195-5a11fa7b34b9"),
            ("A\u{301}RTIST", "straße", "ef588d68-26d3-b005-8195-5a11fa7b34b9"),
        ]
        for (artist, title, identity) in known {
            let info = TrackInfo(source: "file", sourceID: "abc", title: title, artist: artist)
            #expect(TrackIdentity.track(info) == UUID(uuidString: identity))
        }
        let named = TrackInfo(source: "file", sourceID: "abc", title: "Title", artist: "ÁRTIST")
        #expect(TrackIdentity.artist(named) == UUID(uuidString: "a695674c-1a74-cada-631d-65105867a2f8"))
    }

    @Test func `a song without an artist is known by its source as well`() {
        let info = TrackInfo(source: "file", sourceID: "abc", title: "TITLE")
        #expect(TrackIdentity.track(info) == UUID(uuidString: "26b53ada-e9e5-88e2-038f-1e5b8ea09f14"))
        #expect(TrackIdentity.artist(info) == nil)
        let other = TrackInfo(source: "file", sourceID: "abd", title: "TITLE")
        #expect(TrackIdentity.track(other) != TrackIdentity.track(info))
        // Artist and title cannot be cut in another place.
        let cut = [("ab", "c"), ("a", "bc")].map {
            TrackIdentity.track(TrackInfo(source: "file", sourceID: "1", title: $1, artist: $0))
        }
        #expect(cut[0] != cut[1])
    }
}
