import Foundation
import RoomClient
import RoomClientNIO

/// Prints what a room plays, one line a change, for the status bar of a desktop.
///
///     NowPlaying https://party.example 7KQ2ZM
///     NowPlaying https://localhost:8443 7KQ2ZM --authority .backline/development-ca.crt
///
/// Bars such as i3bar, waybar and polybar show the newest line of a program that goes on running.
@main struct NowPlaying {
    static func main() async throws {
        guard let arguments = Arguments(CommandLine.arguments.dropFirst()) else {
            print("usage: NowPlaying SERVER ROOM [--authority FILE | --insecure]")
            return
        }
        let client = RoomClient(
            arguments.server, as: .guest(name: "Status bar"), transport: try NIOTransport(trust: arguments.trust))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await client.run() }
            group.addTask { try await tellFaults(of: client) }
            try await show(arguments.room, of: client)
            group.cancelAll()
        }
    }

    /// Prints a line whenever it is another one than before; returns when the room has ended.
    static func show(_ room: RoomReference, of client: RoomClient) async throws {
        var shown: String?
        for try await update in client.follow(room) {
            let line: String
            switch update {
            case .reset, .changed: line = client.snapshot(of: room).map { text(of: $0) } ?? "…"
            case .offline: line = "\(shown ?? "") (no connection)"
            case .ended(let error):
                print(error.message)
                return
            }
            if line != shown {
                print(line)
                // A bar reads a pipe, into which lines would go many at a time.
                fflush(nil)
                if case .offline = update { continue }
                shown = line
            }
        }
    }

    /// Says on standard error why there is no connection, once for each reason.
    static func tellFaults(of client: RoomClient) async throws {
        var told: String?
        while true {
            try await Task.sleep(for: .seconds(1))
            let reason = client.fault?.message
            if let reason, reason != told { FileHandle.standardError.write(Data("\(reason)\n".utf8)) }
            told = reason
        }
    }

    /// What is on air, and how many listen.
    static func text(of room: RoomSnapshot) -> String {
        let listeners = room.online.map { " · \($0) here" } ?? ""
        guard let playback = room.playback, let track = room.pool.first(where: { $0.id == playback.track }) else {
            return "\(room.details.name): nothing on air\(listeners)"
        }
        let artist = track.info.artist.map { " – \($0)" } ?? ""
        return "\(playback.isPaused ? "‖" : "▶") \(track.info.title)\(artist)\(listeners)"
    }
}

/// What the program is asked for.
struct Arguments {
    let server: ServerAddress
    let room: RoomReference
    var trust = NIOTransport.Trust.system

    init?(_ arguments: some Sequence<String>) {
        var words = Array(arguments)
        if let option = words.firstIndex(of: "--authority"), option + 1 < words.count {
            trust = .authority(file: words[option + 1])
            words.removeSubrange(option...(option + 1))
        } else if let option = words.firstIndex(of: "--insecure") {
            trust = .insecure
            words.remove(at: option)
        }
        guard words.count == 2, let server = ServerAddress(words[0]), let room = RoomReference(words[1]) else {
            return nil
        }
        (self.server, self.room) = (server, room)
    }
}
