/// A `switch` that has a `default:`.
struct DefaultedSwitch {
    /// For each place in its patterns (a value has one, a tuple several), the cases that they name there.
    var names: [[String]: Set<String>] = [:]
}

/// The names of the cases of each enum in a Swift source, by the enum's name.
func casesOfEnums(in source: String) -> [String: Set<String>] {
    SwitchReader(source).enums()
}

/// The switches of a Swift source that have a `default:` and name cases; `@unknown default` is none.
func defaultedSwitches(in source: String) -> [DefaultedSwitch] {
    SwitchReader(source).switches()
}

/// Reads enums and switches from the tokens of a source.
private struct SwitchReader {
    private let words: [String]

    init(_ source: String) {
        words = tokens(in: source)
    }

    private subscript(_ place: Int) -> String { words.indices.contains(place) ? words[place] : "" }

    private static func opens(_ token: String) -> Bool { ["(", "[", "{"].contains(token) }
    private static func closes(_ token: String) -> Bool { [")", "]", "}"].contains(token) }

    // MARK: Enums

    func enums() -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for place in words.indices where words[place] == "enum" {
            guard let body = words[place...].firstIndex(of: "{") else { continue }
            found[self[place + 1], default: []].formUnion(cases(in: body))
        }
        return found.filter { !$0.value.isEmpty }
    }

    /// The cases of the enum whose body begins here.
    private func cases(in body: Int) -> Set<String> {
        var (names, depth, place) = (Set<String>(), 0, body)
        repeat {
            if Self.opens(self[place]) { depth += 1 }
            if Self.closes(self[place]) { depth -= 1 }
            if depth == 1, self[place] == "case" {
                place = readNames(at: place + 1, into: &names)
            } else {
                place += 1
            }
        } while depth > 0 && place < words.count
        return names
    }

    /// Reads the names after a `case` of an enum; returns the place after them.
    private func readNames(at start: Int, into names: inout Set<String>) -> Int {
        var (depth, place, isName) = (0, start, true)
        while place < words.count {
            let token = self[place]
            if depth == 0, Self.closes(token) { return place }
            if depth == 0, token == ";" || token == "\n" && !isName { return place }
            if Self.opens(token) { depth += 1 }
            if Self.closes(token) { depth -= 1 }
            if depth == 0, token == "," {
                isName = true
            } else if depth == 0, isName, token != "\n" {
                names.insert(token)
                isName = false
            }
            place += 1
        }
        return place
    }

    // MARK: Switches

    func switches() -> [DefaultedSwitch] {
        words.indices.compactMap { place in
            guard words[place] == "switch", self[place - 1] != "." else { return nil }
            var (depth, body) = (0, place + 1)
            while body < words.count, depth > 0 || self[body] != "{" {
                if Self.opens(self[body]) { depth += 1 }
                if Self.closes(self[body]) { depth -= 1 }
                body += 1
            }
            return defaultedSwitch(in: body)
        }
    }

    private func defaultedSwitch(in body: Int) -> DefaultedSwitch? {
        var (found, isDefaulted, depth, place) = (DefaultedSwitch(), false, 0, body)
        repeat {
            let token = self[place]
            if Self.opens(token) { depth += 1 }
            if Self.closes(token) { depth -= 1 }
            if depth == 1, token == "default", self[place + 1] == ":", self[place - 1] != "unknown" {
                isDefaulted = true
            }
            // A `case` of a condition follows a keyword or a comma.
            if depth == 1, token == "case", !["if", "guard", "while", "for", ","].contains(self[place - 1]) {
                place = pattern(at: place + 1, into: &found)
            } else {
                place += 1
            }
        } while depth > 0 && place < words.count
        return isDefaulted && !found.names.isEmpty ? found : nil
    }

    /// Reads the patterns after a `case`; returns the place of their colon.
    private func pattern(at start: Int, into found: inout DefaultedSwitch) -> Int {
        // The kinds of the enclosing parentheses, and the place in each: a tuple's, or values of a case.
        var parents: [(isTuple: Bool, index: Int)] = []
        var (place, before, isCondition) = (start, "case", false)
        while place < words.count {
            let token = self[place]
            if parents.isEmpty, token == ":" { return place }
            if Self.opens(token) {
                parents.append((["case", ",", "(", "let", "var"].contains(before), 0))
            } else if Self.closes(token) {
                _ = parents.popLast()
            } else if token == "," {
                if parents.isEmpty { isCondition = false } else { parents[parents.count - 1].index += 1 }
            } else if parents.isEmpty, token == "where" {
                isCondition = true
            } else if token == ".", !isCondition, parents.allSatisfy(\.isTuple),
                ["case", ",", "(", "let", "var"].contains(before)
            {
                found.names[parents.map { String($0.index) }, default: []].insert(self[place + 1])
            }
            if token != "\n" { before = token }
            place += 1
        }
        return place
    }
}
