/// Tells people apart whose names look equal: by their numbers, which everybody sees, and which stay.
///
/// The page does so too (`view/names.js`). It also knows other kinds of letters.
struct NameLooks: Sendable, Equatable {
    private var counts: [String: Int] = [:]

    /// The look of a name as a terminal shows it, without case.
    private static func look(of name: String) -> String {
        var shapes = String.UnicodeScalarView()
        for scalar in SafeText.line(name).unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
            shapes.append(scalar)
        }
        return String(shapes).split(separator: " ").joined(separator: " ").lowercased()
    }

    mutating func add(_ name: String) { counts[Self.look(of: name), default: 0] += 1 }

    mutating func remove(_ name: String) {
        let look = Self.look(of: name)
        guard let count = counts[look] else { return }
        counts[look] = count > 1 ? count - 1 : nil
    }

    /// A member's name as it is shown: with the number if somebody else's looks equal, or if it ends like one with a number.
    ///
    /// `isCounted` says whether the member's own name is one of those that were added.
    func shown(_ name: String, of number: Int, isCounted: Bool = true) -> String {
        let look = Self.look(of: name)
        // A forgotten room has no names.
        guard look != "-" else { return name }
        let isShared = counts[look, default: 0] > (isCounted ? 1 : 0) || look.wholeMatch(of: /.*\([0-9]+\)/) != nil
        return isShared ? "\(name) (\(number))" : name
    }
}
