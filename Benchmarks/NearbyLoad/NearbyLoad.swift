import ArgumentParser

/// The loads of `Benchmarks/nearby.py` inside one process; each command prints one JSON object.
@main
struct NearbyLoad: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "NearbyLoad", abstract: "Loads the index of nearby rooms for Benchmarks/nearby.py.",
        subcommands: [Measure.self, Check.self])
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
