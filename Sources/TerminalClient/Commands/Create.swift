package import ArgumentParser
import RoomClient

/// `backline create`.
package struct Create: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Make a room, and print its code and its link.",
        discussion: "The room is the one that other commands are for.\n\n" + exitCodes)

    @Argument(help: ArgumentHelp("The room's name, 1 to 80 characters.", valueName: "name"))
    var name: String
    @Flag(help: "Only those who have its code find the room.")
    var unlisted = false
    @Option(
        help: ArgumentHelp(
            "Where the room is, for searches nearby; rounded to about 100 m before it is stored.", valueName: "lat,lon")
    )
    var at: String?
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        var location: Location?
        if let at {
            location = Degrees.location(at)
            guard location != nil else { throw TerminalFailure.usage("--at: '\(at)' is no point such as 52.52,13.405") }
        }
        let session = try await options.open()
        let (id, code) = try await session.client.createRoom(
            name: name, location: location, visibility: unlisted ? .unlisted : nil)
        try session.remember(Configuration.Room(code: code, name: name))
        let link = "\(session.server)/r/\(code)"
        let fields: KeyValuePairs<String, SafeJSON?> = [
            "room": .text(id.description), "code": .text(code), "name": .text(name), "link": .text(link),
        ]
        Outcome("\(code)  \(link)", "created", fields).print(output, format)
        if session.server.isLoopback {
            PlainOutput.note(
                "at \(session.server.authority) only this computer finds the server: the link leads nobody else here")
        }
    }
}
