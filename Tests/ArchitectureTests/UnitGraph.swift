/// The units of one target, with the units that each uses.
///
/// A unit is a main type with its `Type+Aspect.swift` files: all files whose names are equal up to the `+`. It uses
/// another unit if its code contains the name of a type that the other unit declares at the top level.
struct UnitGraph {
    /// The names of types through which each unit uses others.
    let uses: [String: [String: Set<String>]]

    /// Reads a target's sources from `files`, which maps paths to texts.
    init(files: [String: String]) {
        var unitOfType: [String: String] = [:]
        for (path, source) in files {
            for type in topLevelTypes(in: source) { unitOfType[type] = Self.unit(of: path) }
        }
        var uses: [String: [String: Set<String>]] = [:]
        for (path, source) in files {
            let unit = Self.unit(of: path)
            uses[unit, default: [:]].merge([:]) { $1 }
            for name in identifiers(in: source) {
                guard let other = unitOfType[name], other != unit else { continue }
                uses[unit, default: [:]][other, default: []].insert(name)
            }
        }
        self.uses = uses
    }

    private static func unit(of path: String) -> String {
        let file = path.split(separator: "/").last ?? ""
        return String(file.prefix { $0 != "+" && $0 != "." })
    }

    /// Units that use each other, directly or indirectly: each circle once, in alphabetical order.
    var circles: [[String]] {
        let reached = Dictionary(uniqueKeysWithValues: uses.keys.map { ($0, units(reachedFrom: $0)) })
        let circles = reached.compactMap { unit, others in
            others.contains(unit) ? others.filter { reached[$0]?.contains(unit) == true }.sorted() : nil
        }
        return Set(circles).sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func units(reachedFrom unit: String) -> Set<String> {
        var (reached, waiting): (Set<String>, [String]) = ([], [unit])
        while let next = waiting.popLast() {
            for other in uses[next, default: [:]].keys where reached.insert(other).inserted { waiting.append(other) }
        }
        return reached
    }

    /// A circle's uses, one a line: the places at which it could be broken.
    func description(of circle: [String]) -> String {
        circle.flatMap { unit in
            uses[unit, default: [:]].filter { circle.contains($0.key) }.sorted { $0.key < $1.key }
                .map { "\(unit) uses \($0.key): \($0.value.sorted().joined(separator: ", "))" }
        }.joined(separator: "\n")
    }
}

/// The types that a Swift source declares at the top level and that other files can name.
private func topLevelTypes(in source: String) -> [String] {
    let declaration =
        #/
        ^(?:(?:@\w+(?:\([^)]*\))?|public|package|internal|final|indirect)\s+)*
        (?:struct|class|enum|actor|protocol|typealias)\s+(?<name>\w+)
        /#
    return source.split(whereSeparator: \.isNewline).compactMap { line in
        line.prefixMatch(of: declaration).map { String($0.name) }
    }
}
