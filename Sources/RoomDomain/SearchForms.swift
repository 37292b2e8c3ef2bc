/// The forms of characters in which texts are searched: in lower case, without accents, in one form for all variants.
///
/// The forms are those of Protocol.md (section 2, *Searching a pool*), which the page makes with its browser's
/// normalization. ``table`` is made from them: they are the same on all platforms, and of one version of Unicode.
enum SearchForms {
    /// Characters that follow each other and have forms of one kind.
    private struct Run {
        var characters: ClosedRange<UInt32>
        /// The distance from each character to its form.
        var distance: Int64
        /// The form of all of them in ``letters``; nil: the one at the distance.
        var form: Range<Int>?
    }

    /// The runs in the order of their characters, and the letters of their forms.
    private static let known = read(table)

    /// Appends the form of a character.
    static func append(_ scalar: Unicode.Scalar, to text: inout [Unicode.Scalar]) {
        switch scalar.value {
        case 0x27, 0x60: return
        case 0x09...0x0D: text.append(" ")
        case 0x41...0x5A: text.append(from: scalar.value + 0x20)
        case ..<0x80: text.append(scalar)
        case 0xAC00..<0xD7A4:
            // A syllable is made of two or three letters (Unicode Standard, section 3.12).
            let place = scalar.value - 0xAC00
            text.append(from: 0x1100 + place / 588)
            text.append(from: 0x1161 + place % 588 / 28)
            if !place.isMultiple(of: 28) { text.append(from: 0x11A7 + place % 28) }
        default:
            guard let run = run(of: scalar.value) else { return text.append(scalar) }
            if let form = run.form {
                text.append(contentsOf: known.letters[form])
            } else {
                text.append(from: UInt32(truncatingIfNeeded: Int64(scalar.value) + run.distance))
            }
        }
    }

    private static func run(of value: UInt32) -> Run? {
        let runs = known.runs
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = low + (high - low) / 2
            if runs[middle].characters.upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].characters.contains(value) ? runs[low] : nil
    }

    /// Reads the table; see there for its form.
    private static func read(_ table: String) -> (runs: [Run], letters: [Unicode.Scalar]) {
        var (runs, letters): ([Run], [Unicode.Scalar]) = ([], [])
        for entry in table.utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x0A }) {
            guard let sign = entry.firstIndex(where: { "+-=".utf8.contains($0) }) else { continue }
            let ends = entry[..<sign].split(separator: UInt8(ascii: ":")).map(number)
            let values = entry[entry.index(after: sign)...].split(separator: UInt8(ascii: ".")).map(number)
            guard let first = ends.first, let last = ends.last else { continue }
            var run = Run(characters: first...last, distance: Int64(values.first ?? 0))
            switch entry[sign] {
            case UInt8(ascii: "+"): break
            case UInt8(ascii: "-"): run.distance.negate()
            default:
                let start = letters.count
                for value in values { letters.append(from: value) }
                run.form = start..<letters.count
            }
            runs.append(run)
        }
        return (runs, letters)
    }

    private static func number(_ digits: some Sequence<UInt8>) -> UInt32 {
        digits.reduce(0) { $0 << 4 | UInt32($1 <= UInt8(ascii: "9") ? $1 - 0x30 : $1 - 0x57) }
    }
}

extension [Unicode.Scalar] {
    fileprivate mutating func append(from value: UInt32) {
        if let scalar = Unicode.Scalar(value) { append(scalar) }
    }
}
