import RoomClient

/// What is known of a room, for those who read lines: enough to say in words what has changed.
struct RoomFacts: Sendable, Equatable {
    struct Song: Sendable, Equatable {
        var title: String
        var artist: String?
        var length: Duration?
        var votes = 0
        var isMine = false
    }

    struct Entry: Sendable, Equatable {
        var number: Int
        var track: Int
        var addedBy: Int?
    }

    struct OnAir: Sendable, Equatable {
        var entry: Int
        var track: Int
        var isPaused: Bool
        var position: Duration
        /// By the server's clock.
        var at: Int64
        var skipVotes: Int
        var skipVoters: Set<Int> = []
    }

    struct Person: Sendable, Equatable {
        var name: String
        var role: Role
    }

    /// The members by their numbers.
    struct People: Sendable, Equatable {
        private var known: [Int: Person] = [:]
        private var looks = NameLooks()

        var count: Int { known.count }

        subscript(number: Int) -> Person? {
            get { known[number] }
            set {
                if let former = known[number] { looks.remove(former.name) }
                if let newValue { looks.add(newValue.name) }
                known[number] = newValue
            }
        }

        /// A name that a member has, or had, as it is shown.
        func shown(_ name: String, of number: Int) -> String {
            looks.shown(name, of: number, isCounted: known[number]?.name == name)
        }
    }

    var id = ""
    var code = ""
    var name = ""
    var isClosed = false
    var sequence = 0
    var online: Int?
    var me: Int?
    var songs: [Int: Song] = [:]
    var requests: [Int] = []
    var queue: [Entry] = []
    var onAir: OnAir?
    var people = People()

    init() {}

    init(_ room: RoomSnapshot) {
        id = room.id.description
        code = room.code
        name = room.details.name
        isClosed = room.details.closedAt != nil
        sequence = room.position.sequence
        online = room.online
        me = room.me?.member.rawValue
        for track in room.pool { songs[track.id.rawValue] = Song(track) }
        requests = room.requests.map(\.rawValue)
        queue = room.queue.map { Entry($0) }
        onAir = room.playback.map { OnAir($0) }
        for member in room.members { people[member.id.rawValue] = Person(name: member.name, role: member.role) }
    }

    /// A track's title and artist, for a sentence.
    func song(_ track: Int, _ signs: Signs) -> String {
        guard let song = songs[track] else { return "track \(track)" }
        return TrackChoice.Candidate(number: track, title: song.title, artist: song.artist).described(signs)
    }

    /// A member's name as it is shown.
    func person(_ number: Int?) -> String? {
        number.flatMap { number in people[number].map { people.shown($0.name, of: number) } }
    }
}

extension RoomFacts.Song {
    init(_ track: TrackSnapshot) {
        self.init(
            title: track.info.title, artist: track.info.artist, length: track.info.duration, votes: track.votes,
            isMine: track.isMine)
    }
}

extension RoomFacts.Entry {
    init(_ entry: QueueEntry) {
        self.init(number: entry.id.rawValue, track: entry.track.rawValue, addedBy: entry.addedBy?.rawValue)
    }
}

extension RoomFacts.OnAir {
    init(_ playback: Playback) {
        self.init(
            entry: playback.entry.rawValue, track: playback.track.rawValue, isPaused: playback.isPaused,
            position: playback.position, at: playback.at.milliseconds, skipVotes: playback.skipVotes,
            skipVoters: Set(playback.skipVoters.map(\.rawValue)))
    }
}
