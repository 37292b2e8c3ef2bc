import Observation
import RandomTestSupport
import RoomDomain
import Synchronization
import Testing

@testable import RoomClient

@MainActor @Suite struct TrackTests {
    private func track(_ number: Int, votes: Int = 0, requestedSeq: Int? = nil) -> RoomClient::Track {
        let info = RoomDomain.TrackInfo(source: "file", sourceID: "\(number)", title: "Song \(number)")
        let id = RoomDomain.TrackID(rawValue: number)
        let member = RoomDomain.MemberID(rawValue: 1)
        let track = RoomDomain.Track(id: id, info: info, addedBy: member, votes: votes, requestedSeq: requestedSeq)
        return RoomClient::Track(track, isMine: false)
    }

    @Test func `who has looked at a track is told once of a change of what was seen`() {
        let track = track(1)
        let told = Mutex<[String]>([])
        func look(_ name: String, _ read: () -> Void) {
            withObservationTracking(read) { told.withLock { $0.append(name) } }
        }
        // Before anybody has looked.
        track.votes = 1
        look("votes") { _ = track.votes }
        look("mine") { _ = track.isMine }
        look("pending") { _ = track.isPending }
        look("waveform") { _ = track.waveform }
        look("song") { _ = track.info.title }
        track.votes = 1
        #expect(told.withLock { $0 } == [])
        track.votes = 2
        track.votes = 3
        #expect(told.withLock { $0 } == ["votes"])
        track.isMine = true
        track.isPending = true
        #expect(told.withLock { $0 } == ["votes", "mine", "pending"])
        #expect(track.votes == 3 && track.isMine && track.isPending && track.waveform == nil)
        #expect(track.info.title == "Song 1")
    }

    @Test func `requests are in the order of their ranks after any moves`() {
        for seed in TestSeed.fixed(0..<20) {
            print("moved requests, seed \(seed)")
            var random = SeededRandom(seed: seed)
            let tracks = (1...30).map { track($0, votes: $0 % 3, requestedSeq: $0 % 3 == 0 ? nil : $0) }
            var list = RequestList(tracks.filter { $0.rank.votes > 0 })
            for step in 0..<300 {
                let track = tracks[Int.random(in: 0..<tracks.count, using: &random)]
                let votes = Int.random(in: 0...4, using: &random)
                let seq = votes == 0 || random.once(in: 4) ? nil : step
                list.move(track, to: RequestRank(votes: votes, requestedSeq: seq ?? .max, track: track.rank.track))
                let expected = tracks.filter { $0.rank.votes > 0 }.sorted { $0.rank < $1.rank }
                #expect(list.tracks.map(\.id) == expected.map(\.id), "seed \(seed), step \(step)")
            }
            let removed = Set(tracks.prefix(10).map(\.id))
            list.remove(removed)
            #expect(removed.isDisjoint(with: list.tracks.map(\.id)))
        }
    }
}
