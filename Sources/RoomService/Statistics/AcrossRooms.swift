import ByteText
import EventStorage
import FoundationEssentials
import GeoSearch
package import NIOCore
import RoomDomain
import RoomStatistics
package import RoomWire
import Synchronization

/// What was played most, made once for all who ask.
package struct SharedTop: Sendable {
    package let answer: TopAnswer
    /// A hash of the songs, by which later answers are compared.
    let hash: Int

    init(_ answer: TopAnswer) {
        self.answer = answer
        hash = answer.songs.hashValue
    }
}

/// What was played most, as JSON.
package struct TopBody: Sendable {
    package let bytes: ByteBuffer
    /// A strong entity tag, in quotation marks.
    package let entityTag: String

    package init(_ json: [UInt8]) {
        bytes = ByteBuffer(bytes: json)
        var hashes: [UInt8] = []
        for salt in 0..<2 {
            var hasher = Hasher()
            hasher.combine(salt)
            hasher.combine(json)
            let hash = hasher.finalize()
            hashes += (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
        }
        entityTag = "\"\(Base64.url.encode(hashes))\""
    }
}

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
        var from: Int64
        var to: Int64
        var songs: [TopTrack]
        /// Its beginnings that were asked for, by the number of songs.
        var made: [Int: Made] = [:]
    }

    private struct Made {
        var top: SharedTop
        var body: TopBody?
    }

    /// The beginnings of one answer that are kept.
    private static let mostMade = 4

    private let statistics: StatisticsQueue
    private let nearby: NearbyRooms
    private let clock: ServerClock
    private let leastOwners: Int
    private let answers = Mutex<[Question: Answer]>([:])
    private let underWay = SharedQuestions<Question, Answer>()

    init(
        statistics: StatisticsQueue, nearby: NearbyRooms, clock: ServerClock, settings: CountingSettings
    ) {
        self.statistics = statistics
        self.nearby = nearby
        self.clock = clock
        leastOwners = max(2, settings.leastOwners)
    }

    /// Returns what was played most, in all rooms; up to half a minute old.
    package func top(
        _ window: StatisticsWindow, byArtist: Bool, limit: Int
    ) async throws(RoomFailure) -> SharedTop {
        let question = Question(window: window, byArtist: byArtist)
        let known = try await known(question)
        if let made = known.made[limit] { return made.top }
        let top = SharedTop(answer(known.songs, window, from: known.from, to: known.to, limit: limit))
        keep(Made(top: top), of: question, madeAt: known.at, limit)
        return top
    }

    /// Returns the same as JSON, encoded once for all who ask.
    package func body(
        _ window: StatisticsWindow, byArtist: Bool, limit: Int
    ) async throws(RoomFailure) -> TopBody {
        let question = Question(window: window, byArtist: byArtist)
        let known = try await known(question)
        if let body = known.made[limit]?.body { return body }
        let top = try await top(window, byArtist: byArtist, limit: limit)
        let body = TopBody(top.answer.encoded(areArtists: byArtist))
        keep(Made(top: top, body: body), of: question, madeAt: known.at, limit)
        return body
    }

    private func keep(_ made: Made, of question: Question, madeAt at: Double, _ limit: Int) {
        answers.withLock { answers in
            guard answers[question]?.at == at else { return }
            if answers[question]?.made.count ?? 0 >= Self.mostMade { answers[question]?.made = [:] }
            answers[question]?.made[limit] = made
        }
    }

    /// The answer to a question that is kept, or made now.
    private func known(_ question: Question) async throws(RoomFailure) -> Answer {
        let now = clock.milliseconds
        let kept = answers.withLock { $0[question] }
        if let kept, now - kept.at < Self.kept[question.window] ?? 0 { return kept }
        return try await underWay.answer(question) { () async throws(RoomFailure) in
            let (from, to) = span(of: question.window)
            let songs = try await compute(question, from: from, to: to)
            let answer = Answer(at: now, from: from, to: to, songs: songs)
            answers.withLock { $0[question] = answer }
            return answer
        }
    }

    /// Returns what was played most in the open public rooms near a point, which is neither kept nor logged.
    ///
    /// Without an asker it is read for those who watch.
    package func top(
        near place: NearbyQuery, _ window: StatisticsWindow, byArtist: Bool, limit: Int, for asker: Asker?
    ) async throws(RoomFailure) -> SharedTop {
        var place = place
        place.limit = Self.roomsNearby
        let rooms = try await nearby.search(place)
        let (from, to) = span(of: window)
        let question = TopQuestion(
            from: from, to: to, streams: rooms.map(\.id.uuid), byArtist: byArtist, leastOwners: leastOwners,
            limit: Self.mostSongs)
        let top = try await statistics.ask(for: asker) { (store) async throws(StorageFault) in
            try await store.top(question)
        }
        return SharedTop(answer(top, window, from: from, to: to, limit: limit))
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

    private func compute(_ question: Question, from: Int64, to: Int64) async throws(RoomFailure) -> [TopTrack] {
        let leastOwners = leastOwners
        return try await statistics.ask(for: nil) { (store) async throws(StorageFault) in
            guard question.window == .week else {
                return try await store.top(
                    TopQuestion(
                        from: from, to: to, byArtist: question.byArtist, leastOwners: leastOwners,
                        limit: Self.mostSongs))
            }
            let today = Int(to / 86_400_000)
            return try await store.topOfDays(
                from: Int(from / 86_400_000), before: today + 1, byArtist: question.byArtist,
                leastOwners: leastOwners, limit: Self.mostSongs)
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
