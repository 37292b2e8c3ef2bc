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
package final class SharedTop: Sendable {
    package let answer: TopAnswer
    /// A hash of the songs, by which later answers are compared.
    let hash: Int
    private let areArtists: Bool
    private let encoded = Mutex<TopBody?>(nil)

    init(_ answer: TopAnswer, areArtists: Bool) {
        self.answer = answer
        self.areArtists = areArtists
        hash = answer.songs.hashValue
    }

    /// The answer as JSON; whoever asks meanwhile waits for the one who encodes it.
    package var body: TopBody {
        encoded.withLock { encoded in
            let body = encoded ?? TopBody(answer.encoded(areArtists: areArtists))
            encoded = body
            return body
        }
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

    private final class Answer: Sendable {
        /// The beginnings that are kept.
        private static let mostMade = 4

        /// When it was asked for, in milliseconds of the server's clock.
        let at: Double
        private let from: Int64
        private let to: Int64
        private let songs: [TopTrack]
        /// Its beginnings that were asked for, by the number of songs.
        private let made = Mutex<[Int: SharedTop]>([:])

        init(_ songs: [TopTrack], from: Int64, to: Int64, at: Double) {
            (self.songs, self.from, self.to, self.at) = (songs, from, to, at)
        }

        /// Its first songs, made once for all who ask.
        func first(_ limit: Int, _ make: ([TopTrack], _ from: Int64, _ to: Int64) -> SharedTop) -> SharedTop {
            made.withLock { made in
                if let top = made[limit] { return top }
                if made.count >= Self.mostMade { made = [:] }
                let top = make(songs, from, to)
                made[limit] = top
                return top
            }
        }
    }

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
        return try await known(question).first(limit) { songs, from, to in
            top(songs, question, from: from, to: to, limit: limit)
        }
    }

    /// The answer to a question that is kept, or made now.
    private func known(_ question: Question) async throws(RoomFailure) -> Answer {
        let now = clock.milliseconds
        if let kept = kept(question, at: now) { return kept }
        return try await underWay.answer(question) { () async throws(RoomFailure) in
            if let kept = kept(question, at: now) { return kept }
            let (from, to) = span(of: question.window)
            let songs = try await compute(question, from: from, to: to)
            let answer = Answer(songs, from: from, to: to, at: now)
            answers.withLock { $0[question] = answer }
            return answer
        }
    }

    private func kept(_ question: Question, at now: Double) -> Answer? {
        guard let kept = answers.withLock({ $0[question] }) else { return nil }
        return now - kept.at < Self.kept[question.window] ?? 0 ? kept : nil
    }

    /// Returns what was played most in the open public rooms near a point, which is neither kept nor logged.
    ///
    /// Without an asker it is read for those who watch.
    package func top(
        near place: NearbyQuery, _ window: StatisticsWindow, byArtist: Bool, limit: Int, for asker: Asker?
    ) async throws(RoomFailure) -> SharedTop {
        let question = Question(window: window, byArtist: byArtist)
        var place = place
        place.limit = Self.roomsNearby
        let rooms = try await nearby.search(place)
        let (from, to) = span(of: window)
        let here = TopQuestion(
            from: from, to: to, streams: rooms.map(\.id.uuid), byArtist: byArtist, leastOwners: leastOwners,
            limit: Self.mostSongs)
        let songs = try await statistics.ask(for: asker) { (store) async throws(StorageFault) in
            try await store.top(here)
        }
        return top(songs, question, from: from, to: to, limit: limit)
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

    private func top(
        _ songs: [TopTrack], _ question: Question, from: Int64, to: Int64, limit: Int
    ) -> SharedTop {
        let answer = TopAnswer(
            window: question.window, from: Timestamp(milliseconds: from), to: Timestamp(milliseconds: to),
            minimumRooms: leastOwners,
            songs: songs.filter { $0.owners >= leastOwners }.prefix(limit).map { one in
                RankedSong(
                    song: CountedSong(
                        track: nil, source: nil, sourceID: nil, title: one.track.title, artist: one.track.artist,
                        addedBy: nil),
                    plays: one.plays, rooms: one.owners)
            })
        return SharedTop(answer, areArtists: question.byArtist)
    }
}
