import RandomTestSupport
import RoomDomain
import Testing

@testable import RoomWire

@Suite struct `What tracks are charged` {
    @Test func `a track is charged its JSON without votes, and 40 bytes`() {
        let texts = ["a", "é", "\"", "\\", "\n", "\u{8}", "\u{1}", "\u{1F}", "\u{7F}", "दि", "👩‍🚀", "/"]
        for seed in TestSeed.fixed(UInt64(1)...100) {
            var random = SeededRandom(seed: seed)
            func text() -> String {
                (0..<Int.random(in: 0...12, using: &random)).map { _ in texts.randomElement(using: &random) ?? "" }
                    .joined()
            }
            func number() -> Int { Int(1) << Int.random(in: 0...52, using: &random) }
            var info = TrackInfo(source: text(), sourceID: text(), title: text())
            if Bool.random(using: &random) { info.artist = text() }
            if Bool.random(using: &random) { info.album = text() }
            if Bool.random(using: &random) { info.durationMs = Int64(number() - 1) }
            if Bool.random(using: &random) { info.artworkURL = text() }
            var track = Track(id: TrackID(rawValue: number()), info: info, addedBy: MemberID(rawValue: number()))
            let length = Self.length(of: track)
            #expect(track.charge == length + 40, "seed \(seed)")
            track.votes = 10_000
            track.requestedSeq = 9_007_199_254_740_991
            #expect(track.charge == length + 40 && Self.length(of: track) == length + 36, "seed \(seed)")
        }
    }

    private static func length(of track: Track) -> Int {
        var writer = JSONWriter()
        writer.beginObject()
        writer.members(of: track)
        writer.endObject()
        return writer.bytes.count
    }
}
