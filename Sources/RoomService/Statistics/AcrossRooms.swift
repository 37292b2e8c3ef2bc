import EventStorage
import FoundationEssentials
import GeoSearch
import NIOCore
import RoomDomain
import RoomStatistics
package import RoomWire
import Synchronization

/// What is played across rooms; may be used on any thread.
///
/// Nothing is shown that fewer than a number of rooms made by distinct sessions have played. All answers are decided here.
package final class AcrossRooms: Sendable {
    /// The songs or artists of one answer.
    package static let mostSongs = 200
    /// The rooms near a point that count, nearest first.
    private static let roomsNearby = 200
    /// The least radius around a point, in metres.
    package static let leastRadius = 1_000.0
    /// The times for which an answer is kept.
    private static let kept: [StatisticsWindow: Double] = [.hour: 10_000, .day: 30_000, .week: 30_000]

    private struct Question: Hashable {
        var window: StatisticsWindow
        var byArtist: Bool
    }

    private struct Answer {
        /// When it was asked for, in milliseconds of the server's clock.
        var at: Double
        var top: Task<Result<[TopTrack], StorageFault>, Never>
    }

    private let statistics: any StatisticsStore
    private let nearby: NearbyRooms
    private let clock: ServerClock
    private let leastOwners: Int
    private let answers = Mutex<[Question: Answer]>([:])

    init(statistics: any StatisticsStore, nearby: NearbyRooms, clock: ServerClock, settings: CountingSettings) {
        self.statistics = statistics
        self.nearby = nearby
        self.clock = clock
        leastOwners = max(2, settings.leastOwners)
    }

    /// Returns what was played most, in all rooms.
    package func top(
        _ window: StatisticsWindow, byArtist: Bool, limit: Int
    ) async throws(RoomFailure) -> TopAnswer {
        let (from, to) = span(of: window)
        let now = clock.milliseconds
        let question = Question(window: window, byArtist: byArtist)
        let task = answers.withLock { answers in
            if let answer = answers[question], now - answer.at < Self.kept[window] ?? 0 { return answer.top }
            let task = Task { await self.compute(question, from: from, to: to) }
            answers[question] = Answer(at: now, top: task)
            return task
        }
        do throws(StorageFault) {
            return answer(try await task.value.get(), window, from: from, to: to, limit: limit)
        } catch {
            answers.withLock { $0[question] = nil }
            throw RoomFailure(error)
        }
    }

    /// Returns what was played most in the open public rooms near a point, which is neither kept nor logged.
    package func top(
        near place: NearbyQuery, _ window: StatisticsWindow, byArtist: Bool, limit: Int
    ) async throws(RoomFailure) -> TopAnswer {
        var place = place
        place.limit = Self.roomsNearby
        let rooms = try await nearby.search(place)
        let (from, to) = span(of: window)
        do throws(StorageFault) {
            let top = try await statistics.top(
                TopQuestion(
                    from: from, to: to, streams: rooms.map(\.id.uuid), byArtist: byArtist, leastOwners: leastOwners,
                    limit: Self.mostSongs))
            return answer(top, window, from: from, to: to, limit: limit)
        } catch {
            throw RoomFailure(error)
        }
    }

    /// The time that a window has now; a week has whole days in UTC.
    private func span(of window: StatisticsWindow) -> (from: Int64, to: Int64) {
        let now = clock.now.milliseconds
        return switch window {
        case .hour: (now - 3_600_000, now)
        case .day: (now - 86_400_000, now)
        case .week: ((now / 86_400_000 - 6) * 86_400_000, now)
        }
    }

    private func compute(
        _ question: Question, from: Int64, to: Int64
    ) async -> Result<[TopTrack], StorageFault> {
        do throws(StorageFault) {
            guard question.window == .week else {
                return .success(
                    try await statistics.top(
                        TopQuestion(
                            from: from, to: to, byArtist: question.byArtist, leastOwners: leastOwners,
                            limit: Self.mostSongs)))
            }
            let today = Int(to / 86_400_000)
            return .success(
                try await statistics.topOfDays(
                    from: Int(from / 86_400_000), before: today + 1, byArtist: question.byArtist,
                    leastOwners: leastOwners, limit: Self.mostSongs))
        } catch {
            return .failure(error)
        }
    }

    private func answer(
        _ top: [TopTrack], _ window: StatisticsWindow, from: Int64, to: Int64, limit: Int
    ) -> TopAnswer {
        TopAnswer(
            window: window, from: Timestamp(milliseconds: from), to: Timestamp(milliseconds: to),
            minimumRooms: leastOwners,
            songs: top.filter { $0.owners >= leastOwners }.prefix(limit).map { one in
                RankedSong(
                    song: CountedSong(
                        track: nil, source: nil, sourceID: nil, title: one.track.title, artist: one.track.artist,
                        addedBy: nil),
                    plays: one.plays, rooms: one.owners)
            })
    }
}
