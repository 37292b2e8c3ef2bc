package import ArgumentParser
import RoomClient

extension ColourChoice: ExpressibleByArgument {}

/// `backline watch`.
package struct Watch: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Watch a room: what is on air, requests, queue and members, as they change.",
        discussion: """
            In a terminal the room fills the screen; ? shows the keys. Where the output is no terminal, TERM is dumb, or \
            with --plain, each event is one line and nothing is drawn over, which suits screen readers and pipes. With \
            --json, each event is an object on one line; Documentation/Terminal.md describes them. A lost connection is \
            made again by itself.


            """ + exitCodes)

    @OptionGroup var room: RoomArgument
    @Flag(help: "Print one line an event, also in a terminal.")
    var plain = false
    @Flag(help: "Print an object of JSON an event.")
    var json = false
    @Option(
        name: [.customLong("color"), .customLong("colour")],
        help: ArgumentHelp(
            "Use colours: auto, always or never. auto: in a terminal, unless NO_COLOR is set.", valueName: "when"))
    var colour = ColourChoice.auto
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        guard !(plain && json) else { throw TerminalFailure.usage("--plain and --json exclude each other") }
        let surroundings = Surroundings.current
        let choice = try RoomChoice(room.room)
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let isScreen = !plain && !json && surroundings.hasScreen
        let palette = Palette(hasColours: surroundings.hasColours(colour))
        try await Self.watch(reference, session, output, isJSON: json, screen: isScreen ? palette : nil)
    }

    @MainActor private static func watch(
        _ reference: RoomReference, _ session: TerminalSession, _ output: PlainOutput, isJSON: Bool, screen: Palette?
    ) async throws {
        let result = await withDiscardingTaskGroup(returning: Result<Void, any Error>.self) { group in
            let events = WatchEvents(session, reference)
            events.start(in: &group)
            defer { group.cancelAll() }
            do {
                if let screen {
                    try await ScreenWatch(events, screen, output.signs).run(in: &group)
                } else {
                    try await LineWatch(events, output, isJSON: isJSON).run()
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}
