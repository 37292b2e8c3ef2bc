import Foundation
import RehearsedAppSupport
import RoomClientNIO

/// `RehearsedClient`: RoomClient as a program for `backline rehearse`.
@main
@MainActor struct RehearsedClient {
    static func main() async throws {
        let lines = AsyncStream<String> { continuation in
            let thread = Thread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
            thread.start()
        }
        var app: RehearsedApp?
        for await line in lines {
            let answer = try RehearsedApp.answer(Array(line.utf8), &app) { start in
                try RehearsedApp(start, transport: NIOTransport())
            }
            FileHandle.standardOutput.write(Data(answer + [UInt8(ascii: "\n")]))
        }
        exit(0)
    }
}
