/// Texts as searches compare them: words of letters, digits and pictures with one space between them, in UTF-8.
///
/// Protocol.md specifies the form (section 2, *Searching a pool*). Making a key is linear in the length of the texts.
struct SearchKey: Sendable, Hashable {
    /// The words of all texts, with ``separator`` between the texts.
    let bytes: [UInt8]

    /// A byte that never occurs in UTF-8.
    static let separator: UInt8 = 0xFF

    init(_ texts: String?...) {
        var bytes: [UInt8] = []
        for (place, text) in texts.enumerated() {
            if place > 0 { bytes.append(Self.separator) }
            if let text { Self.append(text, to: &bytes) }
        }
        self.bytes = bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var form: [Unicode.Scalar] = []
        form.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars { SearchForms.append(scalar, to: &form) }
        let start = bytes.count
        append(form, to: &bytes) { isPunctuation($0) }
        // Of a text of nothing but punctuation, that is the name: "!!!".
        if bytes.count == start { append(form, to: &bytes) { _ in false } }
    }

    private static func append(
        _ form: [Unicode.Scalar], to bytes: inout [UInt8], without isDropped: (Unicode.Scalar) -> Bool
    ) {
        let start = bytes.count
        var isSpaced = false
        for (place, scalar) in form.enumerated() {
            var scalar = scalar
            if scalar == " " {
                isSpaced = bytes.count > start
                continue
            }
            if isDropped(scalar) {
                guard let letter = letter(at: place, of: form) else { continue }
                scalar = letter
            }
            if isSpaced { bytes.append(0x20) }
            isSpaced = false
            if scalar.isASCII {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
    }

    /// The letter that a sign stands for beside letters: P!nk, Ke$ha.
    private static func letter(at place: Int, of form: [Unicode.Scalar]) -> Unicode.Scalar? {
        let followsLetter = place > 0 && isLatin(form[place - 1])
        let precedesLetter = place + 1 < form.count && isLatin(form[place + 1])
        return switch form[place] {
        case "!": followsLetter && precedesLetter ? "i" : nil
        case "$": followsLetter || precedesLetter ? "s" : nil
        default: nil
        }
    }

    private static func isLatin(_ scalar: Unicode.Scalar) -> Bool { ("a"..."z").contains(scalar) }

    private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else {
            return (0x21..<0x7F).contains(scalar.value) && !isLatin(scalar) && !("0"..."9").contains(scalar)
        }
        return switch scalar.properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation, .mathSymbol, .modifierSymbol:
            true
        default: false
        }
    }
}
