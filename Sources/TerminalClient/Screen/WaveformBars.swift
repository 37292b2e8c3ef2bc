/// A waveform in block characters.
package enum WaveformBars {
    /// The heights of `columns` bars, 0 … `steps`, of a song's RMS values: of the loudest stretch, the highest one.
    package static func heights(of levels: [UInt8], columns: Int, steps: Int) -> [Int] {
        guard columns > 0, !levels.isEmpty else { return [] }
        let sums = (0..<columns).map { column -> Double in
            let begin = column * levels.count / columns
            let end = max(begin + 1, (column + 1) * levels.count / columns)
            let part = levels[begin..<min(end, levels.count)]
            return Double(part.reduce(0) { $0 + Int($1) }) / Double(part.count)
        }
        let loudest = sums.max() ?? 0
        guard loudest > 0 else { return Array(repeating: 0, count: columns) }
        return sums.map { Int(($0 / loudest * Double(steps)).rounded()) }
    }

    /// The rows of block characters, the top one first; silence is a low line at the bottom.
    package static func rows(of levels: [UInt8], columns: Int, rows: Int, _ signs: Signs) -> [[String]] {
        let steps = signs.waveform.count - 1
        let heights = heights(of: levels, columns: columns, steps: steps * rows)
        return (0..<rows).map { row in
            let below = steps * (rows - 1 - row)
            return heights.map { height in
                let filled = min(max(height - below, 0), steps)
                return signs.waveform[row == rows - 1 ? max(1, filled) : filled]
            }
        }
    }

    /// How many of `columns` lie before a position of a song; 0 if its length is not known.
    package static func heard(_ position: Duration, of length: Duration?, columns: Int) -> Int {
        guard let length, length > .zero else { return 0 }
        return Int((min(1, max(0, position / length)) * Double(columns)).rounded(.down))
    }
}
