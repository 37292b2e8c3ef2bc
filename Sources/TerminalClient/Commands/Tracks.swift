package import ArgumentParser
import RoomClient

/// `backline tracks`.
package struct Tracks: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "List the tracks of a room's pool, by title, with their numbers and votes.",
        discussion: "With --json, each track is an object on one line.\n\n" + exitCodes)

    @OptionGroup var room: RoomArgument
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let choice = try RoomChoice(room.room)
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let tracks = try await session.look(at: reference) { PoolRow.rows(of: $0) }
        try session.remember()
        for track in tracks where !(format.json ? output.print(track.json) : output.print(track.text(output.signs))) {
            return
        }
        if tracks.isEmpty, !format.json { output.print("The room has no tracks.") }
    }
}

/// A track of the pool, and what it is doing.
struct PoolRow: Sendable, Equatable {
    let track: TrackSnapshot
    var isOnAir = false
    /// The place in the queue, from 1.
    var place: Int?

    /// The pool, by title.
    static func rows(of room: RoomSnapshot) -> [PoolRow] {
        var places: [TrackID: Int] = [:]
        for (place, entry) in room.queue.enumerated() where places[entry.track] == nil {
            places[entry.track] = place + 1
        }
        return room.pool.map { track in
            PoolRow(track: track, isOnAir: room.playback?.track == track.id, place: places[track.id])
        }
    }

    var json: SafeJSON {
        .fields([
            "type": .text("track"), "number": .number(Int64(track.id.rawValue)), "title": .text(track.info.title),
            "artist": track.info.artist.map { .text($0) }, "album": track.info.album.map { .text($0) },
            "durationMs": track.info.duration.map { .number($0.milliseconds) },
            "votes": .number(Int64(track.votes)), "isMine": .bool(track.isMine), "onAir": .bool(isOnAir),
            "missing": track.isMissing ? .bool(true) : nil, "place": place.map { .number(Int64($0)) },
        ])
    }

    func text(_ signs: Signs) -> String {
        var notes: [String] = []
        if let duration = track.info.duration { notes.append(ClockText.of(duration)) }
        if track.isMissing { notes.append("not playable") }
        if isOnAir { notes.append("on air") }
        if let place { notes.append("number \(place) in the queue") }
        if track.votes > 0 {
            notes.append(
                (track.votes == 1 ? "1 vote" : "\(track.votes) votes") + (track.isMine ? ", one is yours" : ""))
        }
        let text = TrackChoice.Candidate(track).text(signs)
        return notes.isEmpty ? text : "\(text) (\(notes.joined(separator: "; ")))"
    }
}
