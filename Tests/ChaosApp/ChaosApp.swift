import ArgumentParser
import Foundation
import RoomClient
import RoomClientGRDB
import RoomClientNIO

/// `ChaosApp`: an app on the client library, for fault runs.
///
/// It posts commands until it is told to end, or is killed.
/// It writes a line for each fact, and reads `stop` (post nothing more) and `state` (write the room) from standard input:
/// `posted KEY`, `acknowledged KEY SEQUENCE`, `refused KEY CODE`, `idle` (nothing is on its way), `room SEQUENCE TRACKS`.
@main struct ChaosApp: AsyncParsableCommand {
    @Argument var server: String
    @Argument var room: String
    @Option(help: "The session's token.") var token: String
    @Option(help: "The file with the store.") var store: String
    @Option(help: "The app's name, which its keys begin with.") var name: String
    @Option(help: "The number of the first command; none before had it.") var first: Int
    @Option(help: "Milliseconds between two commands.") var pace: Int

    @MainActor func run() async throws {
        guard let server = ServerAddress(server), let reference = RoomReference(room) else {
            throw ValidationError("a server and a room are needed")
        }
        let client = RoomClient(
            server, as: .token(token), transport: try NIOTransport(trust: .insecure),
            store: try DatabaseStore(path: store))
        let room = client.room(reference)
        let input = Input()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await client.run() }
            group.addTask { await input.read() }
            let poster = Poster(room: room, name: name, first: first)
            while !input.hasEnded {
                poster.report()
                if !input.hasStopped { poster.post() }
                if input.takesState {
                    let songs = room.pool.map { "\($0.info.sourceID):\($0.votes)" }.joined(separator: ",")
                    write("room \(room.position?.sequence ?? 0) \(songs)")
                }
                if input.hasStopped, poster.isIdle, room.phase == .live { write("idle") }
                try await Task.sleep(for: .milliseconds(input.hasStopped ? 250 : pace))
            }
            group.cancelAll()
        }
    }
}

/// Posts commands, and writes what becomes of them, also of those of earlier lives.
@MainActor final class Poster {
    private let room: Room
    private let name: String
    private var number: Int
    private var watched: Set<CommandKey> = []
    private var waiting = 0

    init(room: Room, name: String, first: Int) {
        (self.room, self.name, number) = (room, name, first)
    }

    var isIdle: Bool { waiting == 0 && room.pending.isEmpty }

    func post() {
        guard let key = CommandKey("\(name)-\(number)"), room.pending.count < 200 else { return }
        number += 1
        let command: Command
        if number % 3 != 0, !room.pool.isEmpty {
            let track = room.pool[number * 7 % room.pool.count]
            command = track.isMine ? .unvote(track.id) : .vote(for: track.id)
        } else {
            command = .add([TrackInfo(source: "chaos", sourceID: key.description, title: key.description)])
        }
        guard let pending = try? room.post(command, key: key) else { return }
        write("posted \(key)")
        watch(pending)
    }

    /// Watches the commands that an earlier life has posted.
    func report() { for pending in room.pending where !watched.contains(pending.id) { watch(pending) } }

    private func watch(_ pending: PendingCommand) {
        guard watched.insert(pending.id).inserted else { return }
        waiting += 1
        Task {
            do throws(ClientError) {
                write("acknowledged \(pending.id) \(try await pending.answer().sequence)")
            } catch {
                write("refused \(pending.id) \(error.code)")
            }
            waiting -= 1
        }
    }
}

/// What the harness says.
@MainActor final class Input {
    private(set) var hasStopped = false
    private(set) var hasEnded = false
    private var asks = 0

    /// Whether the room is to be written now.
    var takesState: Bool {
        guard asks > 0 else { return false }
        asks -= 1
        return true
    }

    func read() async {
        let lines = AsyncStream<String> { continuation in
            let thread = Thread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
            thread.start()
        }
        for await line in lines {
            if line == "stop" { hasStopped = true }
            if line == "state" { asks += 1 }
        }
        hasEnded = true
    }
}

/// Writes a line whole.
func write(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
