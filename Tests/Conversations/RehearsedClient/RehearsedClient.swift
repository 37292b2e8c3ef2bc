import Foundation
import RehearsalTestSupport
import RoomClient
import RoomClientNIO
import RoomWire

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
            let request = try JSONValue(parsing: Array(line.utf8), maximumDepth: 64).object
            let answer: JSONValue
            if let start = request?["start"]?.object {
                app = try RehearsedApp(start)
                answer = jsonObject(["can": .array(RehearsedApp.can.map { .string($0) })])
            } else if let app, let action = request?["do"]?.object {
                answer = app.act(action)
            } else if let app, let room = request?["state"]?.string {
                answer = jsonObject(["state": try app.state(of: room)])
            } else {
                answer = jsonObject(["cannot": .string("this is no request")])
            }
            var writer = JSONWriter()
            writer.value(answer)
            FileHandle.standardOutput.write(Data(writer.bytes + [UInt8(ascii: "\n")]))
        }
        exit(0)
    }
}
