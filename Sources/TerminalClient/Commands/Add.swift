package import ArgumentParser
import FoundationEssentials
import RoomClient
import Synchronization

/// `backline add`.
package struct Add: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Add tracks to a room's pool.",
        discussion: """
            One track by --title and the options beside it, or many from standard input: one object of JSON a line, with \
            "title" and, if known, "artist", "album", "duration" ("3:45" or seconds), "source", "id" and "artworkUrl". A \
            track with the same source and id as one of the pool is that track, so that adding a list again adds only \
            what is new. For example: backline add 7KQ2ZM < tracks.jsonl


            """ + exitCodes + "\nExit code 65: a line on standard input is no track; nothing was added.")

    @OptionGroup var room: RoomArgument
    @Option(help: "The title. Without it, tracks are read from standard input.")
    var title: String?
    @Option(help: "The artist.")
    var artist: String?
    @Option(help: "The album.")
    var album: String?
    @Option(help: ArgumentHelp("The length, such as 3:45.", valueName: "time"))
    var duration: String?
    @Option(help: "The catalogue that the song is from. [default: terminal]")
    var source: String?
    @Option(help: "The song's identity in the catalogue. [default: made of artist and title]")
    var id: String?
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let tracks = try title == nil ? readTracks() : [given()]
        let choice = try RoomChoice(room.room)
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let numbers = try await send(tracks, to: reference, in: session)
        try session.remember()
        let added = zip(numbers, tracks).map { number, track in
            TrackChoice.Candidate(number: number, title: track.title, artist: track.artist)
        }
        var sentence = "Added \(tracks.count) tracks."
        if let track = added.first, added.count == 1 {
            sentence = "Added \(output.signs.quoted(track.title)) as track \(track.number)."
        }
        let fields: KeyValuePairs<String, SafeJSON?> = [
            "room": .text(reference.description), "tracks": .list(added.map(\.json)),
        ]
        Outcome(sentence, "added", fields).print(output, format)
    }

    /// Adds the tracks in commands of at most 500; a failure tells how many were added.
    private func send(
        _ tracks: [TrackInfo], to reference: RoomReference, in session: TerminalSession
    ) async throws -> [Int] {
        let added = Mutex<[Int]>([])
        do {
            try await session.connected { patience in
                for begin in stride(from: 0, to: tracks.count, by: TrackLine.mostInCommand) {
                    let part = Array(tracks[begin..<min(begin + TrackLine.mostInCommand, tracks.count)])
                    let receipt = try await session.client.send(.add(part), to: reference)
                    added.withLock { $0 += receipt.tracks.map(\.rawValue) }
                    patience.beginAnew()
                }
            }
        } catch {
            let failure = (error as? ClientError).map { TerminalFailure($0, room: reference.description) }
            guard var failure = failure ?? (error as? TerminalFailure) else { throw error }
            let count = added.withLock { $0.count }
            if count > 0 {
                failure.message += " (\(count) of \(tracks.count) tracks were added; run it again for the rest)"
            }
            throw failure
        }
        return added.withLock { $0 }
    }

    private func given() throws(TerminalFailure) -> TrackInfo {
        let line = TrackLine(
            title: title, artist: artist, album: album, duration: duration.map { .text($0) }, source: source, id: id)
        return try line.track { .usage($0) }
    }

    private func readTracks() throws -> [TrackInfo] {
        guard [artist, album, duration, source, id].allSatisfy({ $0 == nil }) else {
            throw TerminalFailure.usage("--title is missing")
        }
        guard !Surroundings.current.isInputTerminal else {
            throw TerminalFailure.usage("name a track with --title, or give tracks as lines of JSON on standard input")
        }
        var tracks: [TrackInfo] = []
        var number = 0
        while let line = readLine() {
            number += 1
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            guard let decoded = try? JSONDecoder().decode(TrackLine.self, from: Data(line.utf8)) else {
                throw TerminalFailure.data("line \(number) is no object of JSON with a title: nothing was added")
            }
            tracks.append(try decoded.track { .data("line \(number): \($0): nothing was added") })
        }
        guard !tracks.isEmpty else { throw TerminalFailure.data("there is no track on standard input") }
        return tracks
    }
}

/// A track as a line of standard input, or the command line, has it.
struct TrackLine: Decodable, Equatable {
    /// The most tracks of one command (protocol, section 5).
    static let mostInCommand = 500

    /// A length in seconds, or as `3:45`.
    enum Length: Decodable, Equatable {
        case text(String)
        case seconds(Double)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .seconds(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        var duration: Duration? {
            switch self {
            case .text(let text): ClockText.duration(text)
            case .seconds(let number): (0...604_800).contains(number) ? .milliseconds(Int64(number * 1_000)) : nil
            }
        }
    }

    var title: String?
    var artist: String?
    var album: String?
    var duration: Length?
    var source: String?
    var id: String?
    var artworkUrl: String?

    /// The track; the failure has what is wrong with the line.
    func track(_ failure: (String) -> TerminalFailure) throws(TerminalFailure) -> TrackInfo {
        guard let title, !title.isEmpty else { throw failure("a track needs a title") }
        if let duration, duration.duration == nil { throw failure("a duration is a time such as 3:45") }
        let made = [artist, title].compactMap { $0?.lowercased() }.joined(separator: "/")
        return TrackInfo(
            source: source ?? "terminal", sourceID: id ?? String(made.unicodeScalars.prefix(300)), title: title,
            artist: artist, album: album, duration: duration?.duration, artworkURL: artworkUrl)
    }
}
