import ArgumentParser

/// The loads of `Benchmarks/room_client.py` inside one process; each command prints one JSON object.
@main
struct RoomClientLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RoomClientLoad", abstract: "Loads the client's library for Benchmarks/room_client.py.",
        subcommands: [Headless.self, OnMainActor.self])
}

/// The failure of a measurement, whose figures then do not count.
struct Defect: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Prints one JSON object of numbers.
func report(_ figures: [(name: String, value: Double)]) {
    print("{" + figures.map { #""\#($0.name)": \#($0.value)"# }.joined(separator: ", ") + "}")
}

extension [Double] {
    /// The middle one of the values.
    var median: Double { isEmpty ? .nan : sorted()[count / 2] }

    /// The value that 99 of 100 do not exceed.
    var p99: Double { isEmpty ? .nan : sorted()[Swift.min(count - 1, count * 99 / 100)] }
}
