/// One line of a screen: pieces of text at columns.
package struct Line: Sendable, Equatable {
    struct Piece: Sendable, Equatable {
        var column: Int
        var text: String
        var width: Int
        var ink: Ink
    }

    private(set) var pieces: [Piece] = []
    /// The whole line looks like this, gaps too; nil: as its pieces say.
    var background: Ink?
    let signs: Signs

    init(_ signs: Signs, background: Ink? = nil) {
        self.signs = signs
        self.background = background
    }

    /// The column behind the last piece.
    var end: Int { pieces.last.map { $0.column + $0.width } ?? 0 }

    /// Puts a text at a column, cut where it does not fit; returns the columns that it takes.
    ///
    /// The text may come from a network: what is not harmless is left out.
    @discardableResult
    mutating func put(_ text: String, at column: Int, within width: Int, ink: Ink = .plain) -> Int {
        guard width > 0, column >= 0 else { return 0 }
        let safe = signs.isASCII ? SafeText.ascii(text) : SafeText.line(text)
        let fitted = TextWidth.fitted(safe, to: width, ellipsis: signs.ellipsis)
        guard fitted.width > 0 else { return 0 }
        pieces.append(Piece(column: column, text: fitted.text, width: fitted.width, ink: ink))
        return fitted.width
    }

    /// Puts a text that ends before a column; returns the column at which it begins.
    @discardableResult
    mutating func put(_ text: String, endingAt end: Int, ink: Ink = .plain) -> Int {
        let safe = signs.isASCII ? SafeText.ascii(text) : SafeText.line(text)
        let begin = max(0, end - TextWidth.of(safe))
        put(safe, at: begin, within: end - begin, ink: ink)
        return begin
    }

    /// Puts another line beside this one.
    mutating func put(_ line: Line, at column: Int, within width: Int) {
        for piece in line.pieces where piece.column < width {
            var moved = piece
            moved.column += column
            moved.ink = line.background == .chosen ? .chosen : piece.ink
            pieces.append(moved)
        }
        guard line.background == .chosen else { return }
        // Gaps are filled, so that the row is seen as one.
        let taken = line.pieces.sorted { $0.column < $1.column }
        var at = 0
        for piece in taken + [Piece(column: width, text: "", width: 0, ink: .chosen)] {
            if piece.column > at {
                let gap = String(repeating: " ", count: piece.column - at)
                pieces.append(Piece(column: column + at, text: gap, width: piece.column - at, ink: .chosen))
            }
            at = max(at, piece.column + piece.width)
        }
    }

    /// The part of the line that a screen of this width has.
    func cut(to width: Int) -> Line {
        guard pieces.contains(where: { $0.column + $0.width > width }) else { return self }
        var line = Line(signs, background: background)
        for piece in pieces {
            line.put(piece.text, at: piece.column, within: min(piece.width, width - piece.column), ink: piece.ink)
        }
        return line
    }

    /// The characters that are seen, for tests and for people.
    package var text: String {
        var text = ""
        var at = 0
        for piece in pieces.sorted(by: { $0.column < $1.column }) {
            if piece.column > at { text += String(repeating: " ", count: piece.column - at) }
            text += piece.text
            at = max(at, piece.column + piece.width)
        }
        return text
    }

    /// What a terminal is sent for the line, which is `width` columns wide; the cursor stands at its beginning.
    func rendered(width: Int, _ palette: Palette) -> String {
        var out = ""
        var (at, isCertain, ink) = (0, true, nil as Ink?)
        if pieces.contains(where: { !$0.text.allSatisfy { TextWidth.isCertain($0) } }) { out += "\u{1B}[2K" }
        func set(_ new: Ink) {
            guard new != ink else { return }
            out += "\u{1B}[\(palette.attributes(of: new))m"
            ink = new
        }
        for piece in pieces.sorted(by: { $0.column < $1.column }) where piece.column >= at {
            if piece.column > at {
                set(background ?? .plain)
                out += String(repeating: " ", count: piece.column - at)
            }
            if !isCertain {
                // The terminal may have counted another width: the column is named, not counted.
                out += "\u{1B}[\(piece.column + 1)G"
                isCertain = true
            }
            set(background ?? piece.ink)
            out += piece.text
            at = piece.column + piece.width
            isCertain = piece.text.allSatisfy { TextWidth.isCertain($0) }
        }
        if background != nil, at < width {
            set(background ?? .plain)
            out += String(repeating: " ", count: width - at)
            at = width
        }
        set(.plain)
        // With the cursor on the last column, the erasure would take the last character with it.
        if at < width { out += "\u{1B}[K" }
        return out
    }
}
