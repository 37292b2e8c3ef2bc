import RoomClient

/// The room that a command line names: by a code, an identifier or a link, or by leaving it out.
struct RoomChoice: Sendable, Equatable {
    let reference: RoomReference?
    /// The server of a link.
    let link: ServerAddress?

    /// The room of a text; the current one where there is none.
    init(_ text: String?) throws(TerminalFailure) {
        guard let text else {
            (reference, link) = (nil, nil)
            return
        }
        guard let reference = RoomReference(text) else {
            var failure = TerminalFailure.usage(
                "'\(text)' is no room: a code has 6 or 8 letters and digits, such as 7KQ2ZM")
            failure.isAboutRoom = true
            throw failure
        }
        self.reference = reference
        link = RoomReference.server(ofLink: text)
    }

    /// The room, or the one that was used last at the server.
    func resolved(in session: TerminalSession) throws -> RoomReference {
        if let reference { return reference }
        let rooms = try session.folder.load().rooms(at: session.key)
        guard let current = rooms.first.flatMap({ RoomReference($0.code) }) else {
            throw TerminalFailure.usage(
                "no room is known at \(session.server.authority): name its code, such as 7KQ2ZM")
        }
        return current
    }

    /// Whether a room is meant for certain: by a link or an identifier, or by the code of a room that was used.
    func isCertain(among known: [Configuration.Room]) -> Bool {
        guard let reference, link == nil else { return true }
        return reference.description.utf8.count > 8 || known.contains { $0.code == reference.description }
    }

    /// Whether a text can be a room's code, identifier or link.
    static func isRoom(_ text: String) -> Bool { RoomReference(text) != nil }
}

/// One of a room's tracks, as a command line names it: by its number or a part of its title.
struct TrackChoice: Sendable, Equatable {
    /// What is known of a track that may be meant.
    struct Candidate: Sendable, Equatable {
        var number: Int
        var title: String
        var artist: String?

        /// Number, title and artist, for a list.
        func text(_ signs: Signs) -> String {
            let by = artist.map { " \(signs.dash) \(SafeText.line($0))" } ?? ""
            return "\(number)  \(SafeText.line(title))\(by)"
        }
    }

    /// The most tracks that are listed.
    static let mostListed = 10

    let text: String

    /// The number, where the text is one.
    var number: Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    private var search: TrackSearch { TrackSearch(text) }

    private func matches(among tracks: [Candidate]) -> [Candidate] {
        let search = search
        return search.isEmpty ? [] : tracks.filter { search.finds(title: $0.title, artist: $0.artist) }
    }

    /// Whether the text names any of the tracks.
    func isMeant(among tracks: [Candidate]) -> Bool {
        if let number, tracks.contains(where: { $0.number == number }) { return true }
        return !matches(among: tracks).isEmpty
    }

    /// The track that is meant: of this number, else of this title, else the only one with the text in title and artist.
    func choose(among tracks: [Candidate], _ signs: Signs) throws(TerminalFailure) -> Candidate {
        if let number, let track = tracks.first(where: { $0.number == number }) { return track }
        guard !search.isEmpty else { throw .usage("name a track: its number, or a part of its title") }
        let matches = matches(among: tracks)
        let exact = matches.filter { TrackSearch($0.title) == search }
        if exact.count == 1, let track = exact.first { return track }
        guard matches.count != 1 else { return matches[0] }
        guard !matches.isEmpty else { throw .refused("no track of the room has \(signs.quoted(text)) in its title") }
        let listed = matches.prefix(Self.mostListed).map { "\n  " + $0.text(signs) }.joined()
        let more = matches.count - Self.mostListed
        throw .refused(
            "\(matches.count) tracks match \(signs.quoted(text)): name one by its number\(listed)"
                + (more > 0 ? "\n  and \(more) more" : ""))
    }
}

extension TrackChoice.Candidate {
    init(_ track: TrackSnapshot) {
        self.init(number: track.id.rawValue, title: track.info.title, artist: track.info.artist)
    }

    /// `“Song” by Artist`.
    func described(_ signs: Signs) -> String {
        signs.quoted(title) + (artist.map { " by \($0)" } ?? "")
    }
}
