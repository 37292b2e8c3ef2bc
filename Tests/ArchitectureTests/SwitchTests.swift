import Testing

/// A `switch` over one of the project's own enums names every case: so the compiler reports each place where a new case
/// needs a decision.
@Suite struct SwitchTests {
    /// The files with a `default:` that looks like one over an enum of this project, and why it may stay.
    private static let exceptions = [
        "Rehearsal/Variables.swift": "pairs of JSON values: two of different kinds are compared whole",
        "RoomClient/Engine/ClientEngine+Running.swift": "the rest goes to keepOnly, which names every case",
        "RoomClientTesting/JSONPattern.swift": "pairs of JSON values, as above",
    ]

    @Test func `no switch over an enum of this project has a default`() throws {
        let tree = try SourceTree.shared
        let files = tree.targets.flatMap { target in
            target.files.map { (path: "\(target.name)/\($0.key)", text: $0.value) }
        }
        let enums = files.flatMap { casesOfEnums(in: $0.text).values }
        #expect(enums.count > 200)
        var found: Set<String> = []
        for file in files where file.text.contains("default:") {
            for one in defaultedSwitches(in: file.text) {
                let isOurs = one.names.values.contains { names in enums.contains { names.isSubset(of: $0) } }
                if isOurs { found.insert(file.path) }
                #expect(!isOurs || Self.exceptions[file.path] != nil, "\(file.path): \(one.names.values)")
            }
        }
        #expect(found == Set(Self.exceptions.keys), "an exception that is not needed any more")
    }
}
