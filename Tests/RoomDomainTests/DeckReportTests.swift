import RoomDomain
import RoomTestSupport
import Testing

/// What the deck reports about tracks: lengths that it measures, and tracks that it lacks.
@Suite struct DeckReportTests {
    let songs = RoomScenario.given(RoomScenario.songs)

    // MARK: Lengths

    @Test func `a measured length replaces the one that was claimed`() {
        let measured = songs.when(
            .setDuration(track: 1, durationMs: 61_500), by: .bob,
            then: .durationSet(track: 1, durationMs: 61_500, by: 2))
        #expect(measured.room.tracks[1]?.info.durationMs == 61_500)
        measured.changesNothing(.setDuration(track: 1, durationMs: 61_500))
        #expect(songs.after(.setDuration(track: 2, durationMs: 5)).room.tracks[2]?.info.durationMs == 5)
    }

    @Test func `a measured length is 1 ms to a week`() {
        for length in [0, -1, 604_800_001, Int64.min, .max] {
            songs.refuses(.setDuration(track: 1, durationMs: length), with: .badRequest)
            songs.refuses(.setDuration(track: 99, durationMs: length), with: .badRequest)
        }
        for length in [1, 604_800_000] as [Int64] { _ = songs.after(.setDuration(track: 1, durationMs: length)) }
        songs.refuses(.setDuration(track: 99, durationMs: 1), with: .notFound)
    }

    @Test func `the pool is charged for a measured length, which it never refuses`() throws {
        let before = songs.room.poolCharge
        // `,"durationMs":604800000`
        let measured = songs.after(.setDuration(track: 2, durationMs: 604_800_000))
        #expect(measured.room.poolCharge == before + 23)
        #expect(measured.after(.removeTracks([2])).room.poolCharge == songs.after(.removeTracks([2])).room.poolCharge)
        let events = try songs.room.decide(
            .setDuration(track: 2, durationMs: 604_800_000), by: .ana, at: songs.room.lastEventAt,
            within: PoolBudget(bytes: before))
        #expect(events.count == 1)
    }

    @Test func `a track is found and sorted as before it was measured`() {
        let room = songs.after(.setDuration(track: 1, durationMs: 61_500)).room
        #expect(room.poolOrder == songs.room.poolOrder)
        let query = PoolQuery(start: .first(.title), text: "one", limit: 9)
        #expect(room.poolPage(query).tracks.map(\.id) == [1])
    }

    // MARK: What the deck lacks

    @Test func `a report of what the deck lacks replaces the one before`() {
        let first = songs.when(.setMissing([3, 1, 3]), by: .bob, then: .missingSet(tracks: [1, 3], by: 2))
        #expect(first.room.tracks.values.filter(\.isMissing).map(\.id).sorted() == [1, 3])
        first.changesNothing(.setMissing([1, 3]))
        let second = first.when(.setMissing([3, 4]), then: .missingSet(tracks: [3, 4], by: 1))
        #expect(second.room.missing == [3, 4])
        #expect(second.room.tracks[1]?.isMissing == false)
        second.when(.setMissing([]), then: .missingSet(tracks: [], by: 1))
        songs.changesNothing(.setMissing([]))
    }

    @Test func `tracks that are not in the pool are left out of it`() {
        songs.changesNothing(.setMissing([0, -1, 99, TrackID(rawValue: .max)]))
        let first = songs.when(.setMissing([99, 2]), then: .missingSet(tracks: [2], by: 1))
        let removed = first.after(.removeTracks([2]))
        #expect(removed.room.missing == [])
        removed.changesNothing(.setMissing([2]))
    }

    @Test func `a report names at most as many tracks as a pool has`() {
        songs.refuses(.setMissing(Array(repeating: 1, count: 10_001)), with: .limitReached)
        songs.when(.setMissing(Array(repeating: 1, count: 10_000)), then: .missingSet(tracks: [1], by: 1))
    }

    @Test func `a report is never refused for want of room in the pool, and charges nothing`() throws {
        let room = songs.room
        let events = try room.decide(
            .setMissing([1, 2, 3, 4]), by: .ana, at: room.lastEventAt, within: PoolBudget(bytes: 0))
        #expect(events == [.missingSet(tracks: [1, 2, 3, 4], by: 1)])
        #expect(songs.after(.setMissing([1, 2, 3, 4])).room.poolCharge == room.poolCharge)
    }

    @Test func `events about tracks that are gone change nothing`() {
        var room = songs.after(.setMissing([1])).room
        let before = room
        let events: [RoomEvent] = [
            .durationSet(track: 99, durationMs: 5, by: 1), .missingSet(tracks: [1, 98, 99], by: 1),
        ]
        for recorded in room.recorded(events, at: room.lastEventAt) { room.evolve(recorded) }
        #expect(room.missing == [1])
        #expect(room.tracks == before.tracks)
        #expect(room.invariantViolations(atCommandBoundary: true) == [])
    }
}
