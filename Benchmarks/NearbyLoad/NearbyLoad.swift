import ArgumentParser

/// What `Benchmarks/nearby.py` measures inside of a process; each command prints one JSON object.
@main
struct NearbyLoad: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "NearbyLoad", abstract: "Loads the index of nearby rooms for Benchmarks/nearby.py.",
        subcommands: [Measure.self, Check.self])
}

/// Something went wrong, so that figures are no figures.
struct Defect: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Prints one JSON object of numbers.
func report(_ figures: [(name: String, value: Double)]) {
    print("{" + figures.map { #""\#($0.name)": \#($0.value)"# }.joined(separator: ", ") + "}")
}
