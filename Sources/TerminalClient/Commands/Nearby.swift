package import ArgumentParser
import RoomClient

/// `backline nearby`.
package struct Nearby: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "List the rooms near a point, the nearest first.",
        discussion: """
            For example: backline nearby 52.52 13.405 --radius 2000. Degrees south and west are negative: \
            backline nearby -33.87 -70.65. The server neither keeps nor logs the point.


            """ + exitCodes)

    @Argument(help: ArgumentHelp("Degrees north of the equator, -90 to 90.", valueName: "lat"))
    var latitude: String
    @Argument(help: ArgumentHelp("Degrees east of Greenwich, -180 to 180.", valueName: "lon"))
    var longitude: String
    @Option(help: ArgumentHelp("How far to look. [default: 5000]", valueName: "metres"))
    var radius: String?
    @Option(help: ArgumentHelp("The most rooms, 1 to 200. [default: 50]", valueName: "n"))
    var limit: String?
    @Flag(help: "Print an object of JSON a line.")
    var json = false
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let circle = try circle()
        let session = try await options.open()
        let rooms = try await session.client.rooms(near: circle)
        try session.remember()
        guard !json else {
            for room in rooms { output.print(Self.json(room)) }
            return
        }
        guard !rooms.isEmpty else {
            output.print("No room within \(Self.distance(circle.radius)).")
            return
        }
        for room in rooms {
            let song = room.title.map { title in
                ": \(output.signs.quoted(title))" + (room.artist.map { " by \($0)" } ?? "")
            }
            output.print(
                "\(room.code)  \(Self.distance(room.distance ?? 0))  \(room.name), \(room.listeners) here\(song ?? "")")
        }
    }

    private func circle() throws(TerminalFailure) -> Circle {
        guard let latitude = Degrees.number(latitude), let longitude = Degrees.number(longitude),
            let center = Location(latitude: latitude, longitude: longitude)
        else { throw .usage("'\(latitude) \(longitude)' is no point: latitudes are -90 to 90, longitudes -180 to 180") }
        var circle = Circle(center: center)
        if let radius {
            guard let metres = Degrees.number(radius), (1...20_037_508).contains(metres) else {
                throw .usage("--radius: '\(radius)' is not valid; expected 1 to 20037508 metres")
            }
            circle.radius = metres
        }
        if let limit {
            guard let most = Int(limit), (1...200).contains(most) else {
                throw .usage("--limit: '\(limit)' is not valid; expected a whole number from 1 to 200")
            }
            circle.limit = most
        }
        return circle
    }

    static func distance(_ metres: Double) -> String {
        if metres < 1_000 { return "\(Int(metres.rounded())) m" }
        let tenths = Int((metres / 100).rounded())
        return tenths < 1_000 ? "\(tenths / 10).\(tenths % 10) km" : "\(Painter.grouped(tenths / 10)) km"
    }

    private static func json(_ room: RoomSummary) -> SafeJSON {
        let location = room.location.map { place in
            SafeJSON.fields(["lat": .decimal(place.latitude), "lon": .decimal(place.longitude)])
        }
        return .fields([
            "type": .text("nearby"), "room": .text(room.id.description), "code": .text(room.code),
            "name": .text(room.name), "distanceMeters": room.distance.map { .decimal($0) }, "location": location,
            "listeners": .number(Int64(room.listeners)), "djName": room.dj.map { .text($0) },
            "title": room.title.map { .text($0) }, "artist": room.artist.map { .text($0) },
        ])
    }
}

/// Numbers of a point on the Earth.
enum Degrees {
    /// Reads a number, whose minus may be the sign that ``TerminalCommands`` puts in its place; nil for any other text.
    static func number(_ text: String) -> Double? {
        let plain = text.replacing("\u{2212}", with: "-")
        guard plain.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E }),
            let number = Double(plain),
            number.isFinite
        else { return nil }
        return number
    }

    /// Reads `LAT,LON`.
    static func location(_ text: String) -> Location? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = number(String(parts[0])),
            let longitude = number(parts[1].trimmingPrefix(" ").description)
        else { return nil }
        return Location(latitude: latitude, longitude: longitude)
    }
}
