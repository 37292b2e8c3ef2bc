/// The number of stored properties of each structure, class and actor that a Swift source declares, by its full name.
///
/// Properties of a type itself (`static`) do not count. Properties with observers do.
func storedProperties(in source: String) -> [String: Int] {
    var reader = DeclarationReader(tokens: tokens(in: source))
    reader.readAll()
    return reader.counts
}

/// Follows the braces of a source, and counts the properties that are declared directly in types.
private struct DeclarationReader {
    private enum Scope {
        /// The body of a type that can store properties.
        case type(String)
        /// The body of an extension, an enumeration or a protocol, which may contain types.
        case names(String)
        /// Any other braces.
        case code
    }

    private static let opening: Set = ["(", "[", "{"]
    private static let closing: Set = [")", "]", "}"]

    let tokens: [String]
    private(set) var counts: [String: Int] = [:]
    private var place = 0
    private var scopes: [Scope] = []

    init(tokens: [String]) {
        self.tokens = tokens
    }

    mutating func readAll() {
        while let token = token(0) {
            switch token {
            case "{": enter(.code)
            case "}": leave()
            case "struct", "class", "actor", "enum", "protocol", "extension": readType(token)
            case "let", "var": readProperty()
            default: place += 1
            }
        }
    }

    private func token(_ distance: Int) -> String? {
        tokens.indices.contains(place + distance) ? tokens[place + distance] : nil
    }

    private mutating func enter(_ scope: Scope) {
        scopes.append(scope)
        place += 1
    }

    private mutating func leave() {
        _ = scopes.popLast()
        place += 1
    }

    /// The names of the enclosing types, as a prefix.
    private var prefix: String {
        switch scopes.last {
        case .type(let name), .names(let name): name + "."
        case .code, nil: ""
        }
    }

    private mutating func readType(_ keyword: String) {
        // Not a declaration: `.actor`, `class func`, `actor: Actor`.
        guard token(-1) != ".", let name = token(1), name.first?.isUppercase == true else {
            place += 1
            return
        }
        place += 1
        var full = prefix
        while let part = token(0), part == "." || part.first?.isUppercase == true {
            full += part
            place += 1
        }
        while let token = token(0), token != "{" { place += 1 }
        let stores = ["struct", "class", "actor"].contains(keyword)
        if stores { counts[full, default: 0] += 0 }
        enter(stores ? .type(full) : .names(full))
    }

    /// Reads the declaration that `let` or `var` begins: to its end, or to the brace of an accessor or a closure.
    private mutating func readProperty() {
        let isOfType = isStatic
        place += 1
        guard case .type(let type)? = scopes.last, !isOfType else { return }
        repeat {
            let names = readPattern()
            let isStored = readAnnotationAndValue()
            if isStored { counts[type, default: 0] += names }
        } while readComma()
    }

    /// Whether `static` or `class` stands before the `let` or `var`.
    private var isStatic: Bool {
        tokens[..<place].reversed().prefix { !["\n", "{", "}", ";"].contains($0) }
            .contains { $0 == "static" || $0 == "class" }
    }

    /// Reads a name, or several in parentheses; returns their number.
    private mutating func readPattern() -> Int {
        guard token(0) == "(" else {
            place += 1
            return 1
        }
        let pattern = tokens[place...].prefix { $0 != ")" }
        place += pattern.count + 1
        return pattern.count { $0.first?.isLetter == true || $0.first == "_" }
    }

    /// Reads what follows a name, up to a comma, a brace or the end; returns whether the property is stored.
    private mutating func readAnnotationAndValue() -> Bool {
        var (depth, hasValue) = (0, false)
        while let token = token(0) {
            if depth == 0 {
                switch token {
                case "{":
                    return hasValue || ["willSet", "didSet"].contains(tokens[(place + 1)...].first { $0 != "\n" })
                case ",", ";", "}": return true
                case "=": hasValue = true
                case "\n":
                    guard let next = tokens[place...].first(where: { $0 != "\n" }) else { return true }
                    // The declaration goes on in the next line, or ends here.
                    guard ["=", "{", "&", "."].contains(next) || self.token(-1) == "=" else { return true }
                default: break
                }
            }
            // Angle brackets of types; in a value, they may be operators.
            if Self.opening.contains(token) || token == "<" && !hasValue { depth += 1 }
            if Self.closing.contains(token) || token == ">" && !hasValue && self.token(-1) != "-" { depth -= 1 }
            place += 1
        }
        return true
    }

    private mutating func readComma() -> Bool {
        guard token(0) == "," else { return false }
        place += 1
        while token(0) == "\n" { place += 1 }
        return true
    }
}
