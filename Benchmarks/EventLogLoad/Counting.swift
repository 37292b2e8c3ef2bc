import ArgumentParser
import EventStorage
import RoomDomain
import RoomStatistics

/// What counting adds to the fold of a room's events, in this process alone.
struct Counting: ParsableCommand {
    @Option(help: "Events that are folded in one round.")
    var events = 200_000

    @Option(help: "Votes for each song, which cause one event each; a song causes four others.")
    var votes = 16

    @Option(help: "Events after which the counts are taken.")
    var taken = 10

    @Option(help: "Rounds; each folds alone, twice with counts, and alone.")
    var runs = 9

    func run() throws {
        // Twenty events a second, whose counts are taken twice a second.
        var evening = Evening(at: 1_700_000_000_000, songMs: Int64(votes + 4) * 50, votesPerSong: votes)
        var history: [RecordedEvent] = []
        while history.count < events { history += try evening.next() }
        let appends = stride(from: 0, to: history.count, by: taken).map { first in
            Array(history[first..<min(first + taken, history.count)])
        }
        var (alone, both, flushes): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<runs {
            let first = try fold(appends, on: evening.before)
            let counted = try count(appends, on: evening.before) + (try count(appends, on: evening.before))
            alone.append((first + (try fold(appends, on: evening.before))) / 2)
            both.append(counted / 2)
            flushes.append(try flush(appends, on: evening.before))
        }
        let counting = zip(both, alone).map { $0 - $1 }
        report([
            ("fold_ns", Self.median(alone)), ("fold_and_count_ns", Self.median(both)),
            ("count_ns", Self.median(counting)), ("flush_ns_a_room", Self.median(flushes)),
        ])
    }

    /// Folds the events; returns the processor time of each, in nanoseconds.
    private func fold(_ appends: [[RecordedEvent]], on before: RoomState) throws -> Double {
        var (state, seen) = (before, 0)
        let began = Usage.processorSeconds
        for events in appends {
            for event in events { state.evolve(event) }
            seen += events.count
        }
        let took = Usage.processorSeconds - began
        guard state.seq == seen else { throw Defect("the fold stands at \(state.seq)") }
        return took / Double(seen) * 1e9
    }

    /// Folds and counts them, and takes what is counted of each append.
    private func count(_ appends: [[RecordedEvent]], on before: RoomState) throws -> Double {
        var (state, seen) = (before, 0)
        var tally = RoomTally(of: state.id, in: "epoch", after: 0)
        let began = Usage.processorSeconds
        for events in appends {
            for event in events {
                state.evolve(event)
                tally.add(event, in: state)
            }
            seen += tally.through - tally.since
            tally = RoomTally(of: state.id, in: "epoch", after: state.seq)
        }
        let took = Usage.processorSeconds - began
        guard state.seq == seen else { throw Defect("\(seen) of \(state.seq) events are counted") }
        return took / Double(seen) * 1e9
    }

    /// Makes the rows of what was counted; returns the processor time of each append's, in nanoseconds.
    private func flush(_ appends: [[RecordedEvent]], on before: RoomState) throws -> Double {
        var (state, tallies): (RoomState, [RoomTally]) = (before, [])
        for events in appends {
            var tally = RoomTally(of: state.id, in: "epoch", after: state.seq)
            for event in events {
                state.evolve(event)
                tally.add(event, in: state)
            }
            tallies.append(tally)
        }
        let now = state.lastEventAt
        let began = Usage.processorSeconds
        let rows = tallies.reduce(0) { $0 + $1.flush(at: now).counts.count }
        let took = Usage.processorSeconds - began
        guard rows > 0 else { throw Defect("nothing is counted") }
        return took / Double(tallies.count) * 1e9
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
