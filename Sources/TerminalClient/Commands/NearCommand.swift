/// The command that somebody meant who has mistyped one.
package enum NearCommand {
    /// The name that is nearest to a word, by letters that are missing, left over, wrong or in the wrong order; nil if
    /// none is near: two letters away at most, and one for words of up to three.
    package static func of(_ word: String, among names: [String]) -> String? {
        let most = word.count <= 3 ? 1 : 2
        let near = names.map { (name: $0, steps: steps(from: Array(word.lowercased()), to: Array($0))) }
        return near.filter { $0.steps <= most }.min { $0.steps < $1.steps }?.name
    }

    /// The optimal string alignment distance.
    private static func steps(from some: [Character], to other: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...other.count)
        for row in some.indices {
            var next = [row + 1]
            for column in other.indices {
                var least = min(last[column + 1] + 1, next[column] + 1)
                least = min(least, last[column] + (some[row] == other[column] ? 0 : 1))
                if row > 0, column > 0, some[row] == other[column - 1], some[row - 1] == other[column] {
                    least = min(least, before[column - 1] + 1)
                }
                next.append(least)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }
}
