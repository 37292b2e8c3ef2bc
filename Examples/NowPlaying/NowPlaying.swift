import Foundation
import RoomClient
import RoomClientNIO

/// Prints what a room plays, one line a change, for the status bar of a desktop.
///
///     NowPlaying https://party.example 7KQ2ZM
///     NowPlaying https://localhost:8443 7KQ2ZM --authority .backline/ca.pem
///
/// The authority's file is the one that a server with a development certificate makes in the folder of its data. Bars such
/// as i3bar, waybar and polybar show the newest line of a program that goes on running. Each start is the same guest: its
/// token is kept in the folder `now-playing` of `$XDG_CONFIG_HOME`, else of `~/.config`.
@main struct NowPlaying {
    static func main() async {
        guard let arguments = Arguments(CommandLine.arguments.dropFirst()) else {
            stop("usage: NowPlaying SERVER ROOM [--authority FILE | --insecure]", code: 64)
        }
        do {
            try await follow(arguments)
        } catch let error as ClientError {
            stop(error.message)
        } catch {
            stop("\(error)")
        }
    }

    /// Prints a sentence on standard error, and ends.
    static func stop(_ reason: String, code: Int32 = 1) -> Never {
        FileHandle.standardError.write(Data("NowPlaying: \(reason)\n".utf8))
        exit(code)
    }

    static func follow(_ arguments: Arguments) async throws {
        let transport = try NIOTransport(trust: arguments.trust)
        let session = KeptToken(arguments.server)
        let client = RoomClient(
            arguments.server, as: session.token.map { .token($0) } ?? .guest(name: "Status bar"),
            transport: transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do throws(ClientError) {
                    try await client.run()
                } catch {
                    // The next start is another guest.
                    if error.code == .unauthorized { session.forget() }
                    throw error
                }
            }
            group.addTask { try await tellFaults(of: client) }
            group.addTask {
                try await show(arguments.room, of: client) { session.keep(try await client.token()) }
            }
            // The first that ends is the end of all.
            try await group.next()
            group.cancelAll()
        }
    }

    /// Prints a line whenever it is another one than before; throws why the room has ended.
    static func show(
        _ room: RoomReference, of client: RoomClient, begun: () async throws -> Void
    ) async throws {
        var known: String?
        var shown: String?
        for try await update in client.follow(room) {
            let line: String
            switch update {
            case .reset, .changed:
                line = client.snapshot(of: room).map { text(of: $0) } ?? "…"
                known = line
            case .offline: line = "\(known ?? "") (no connection)"
            case .ended(let error): throw error
            }
            if shown == nil { try await begun() }
            guard line != shown else { continue }
            print(line)
            // A bar reads a pipe, into which lines would go many at a time.
            fflush(nil)
            shown = line
        }
    }

    /// Says on standard error why there is no connection, once for each reason; throws where waiting does not help.
    static func tellFaults(of client: RoomClient) async throws {
        var told: String?
        while true {
            try await Task.sleep(for: .seconds(1))
            let fault = client.fault
            if let cause = fault?.cause as? TransportFault, cause.isLasting { throw cause }
            let reason = fault?.message
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

/// The session's token in a file of its own, which is as good as a password.
struct KeptToken: Sendable {
    let file: String

    init(_ server: ServerAddress) {
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
        let name = server.description.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "-" }
        file = "\(folder)/now-playing/\(String(name)).token"
    }

    var token: String? { try? String(contentsOfFile: file, encoding: .utf8) }

    /// Keeps the token for the next start, if there is a folder for it.
    func keep(_ token: String) {
        guard token != self.token else { return }
        let folder = (file as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        _ = FileManager.default.createFile(
            atPath: file, contents: Data(token.utf8), attributes: [.posixPermissions: 0o600])
    }

    func forget() { try? FileManager.default.removeItem(atPath: file) }
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
