import ArgumentParser
import RoomDomain
import RoomWire

/// A large room in this process alone: the time to decide and fold each command, and to encode the room.
struct Deciding: ParsableCommand {
    @Option(help: "Tracks of the room.")
    var tracks = 10_000

    @Option(help: "Members of the room.")
    var members = 2_000

    @Option(help: "Events of the room before anything is measured: tracks, members, and votes.")
    var events = 20_000

    @Option(help: "How often each is measured.")
    var runs = 2_000

    func run() throws {
        var room = try LargeRoom(tracks: tracks, members: members, events: events)
        var figures = [("events", Double(room.state.seq)), ("members", Double(room.state.members.count))]
        figures += try votes(&room)
        figures += try others(&room)
        figures += try choices(&room)
        figures += (0..<20).map { _ in
            ContinuousClock().measure { _ = StateJSON.encode(room.state) }
        }.percentiles("encode")
        figures.append(("state_bytes", Double(StateJSON.encode(room.state).count)))
        report(figures)
    }

    /// Every member votes for a track that it has not voted for, one after the other.
    private func votes(_ room: inout LargeRoom) throws -> [(name: String, value: Double)] {
        var times: [Duration] = []
        for number in 0..<runs {
            let voter = room.voters[number % room.voters.count]
            let own = room.state.memberOfSession[voter].flatMap { room.state.votesOfMember[$0] } ?? []
            let candidates = (0..<tracks).lazy.map { TrackID(rawValue: (number * 17 + $0) % tracks + 1) }
            guard let track = candidates.first(where: { !own.contains($0) }) else {
                throw Defect("a member votes for everything")
            }
            times.append(try room.time(.vote(track: track), by: voter))
        }
        return times.percentiles("vote")
    }

    private func others(_ room: inout LargeRoom) throws -> [(name: String, value: Double)] {
        var (renames, enqueues, skips): ([Duration], [Duration], [Duration]) = ([], [], [])
        for number in 0..<runs {
            let voter = room.voters[number % room.voters.count]
            renames.append(try room.time(.rename(name: "Name \(number)"), by: voter))
        }
        for number in 0..<min(runs, RoomLimits.queue) {
            let track = TrackID(rawValue: number * 13 % tracks + 1)
            enqueues.append(try room.time(.enqueue(track: track, index: nil), by: room.owner))
        }
        _ = try room.time(.play(entry: nil), by: room.owner)
        while !room.state.queue.isEmpty { skips.append(try room.time(.skip, by: room.owner)) }
        return renames.percentiles("rename") + enqueues.percentiles("enqueue") + skips.percentiles("skip")
    }

    /// The queue is empty: each skip lets the room choose among all tracks with votes.
    private func choices(_ room: inout LargeRoom) throws -> [(name: String, value: Double)] {
        var figures: [(name: String, value: Double)] = []
        for (mode, name) in [(QueueMode.votes, "choice_votes"), (.fair, "choice_fair")] {
            var update = RoomUpdate()
            update.settings.queueMode = mode
            _ = try room.time(.updateRoom(update), by: room.owner)
            figures += try (0..<min(runs, 200)).map { _ in try room.time(.skip, by: room.owner) }.percentiles(name)
        }
        return figures
    }
}
