/// What stands for letters and signs where a terminal shows ASCII only.
enum PlainLetters {
    private static let table: [Character: String] = {
        var table: [Character: String] = [
            "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "Th", "–": "-", "—": "-", "‐": "-",
            "−": "-", "“": "\"", "”": "\"", "„": "\"", "«": "\"", "»": "\"", "‘": "'", "’": "'", "‚": ",", "…": "...",
            "·": ".", "•": "*", "×": "x", "№": "No", "€": "EUR", "£": "GBP", "¡": "!", "¿": "?", "♯": "#", "♭": "b",
        ]
        let groups: [(String, String)] = [
            ("ÀÁÂÃÄÅĀĂĄ", "A"), ("àáâãäåāăą", "a"), ("ÇĆĈĊČ", "C"), ("çćĉċč", "c"), ("ĎĐÐ", "D"), ("ďđð", "d"),
            ("ÈÉÊËĒĔĖĘĚ", "E"), ("èéêëēĕėęě", "e"), ("ĜĞĠĢ", "G"), ("ĝğġģ", "g"), ("ĤĦ", "H"), ("ĥħ", "h"),
            ("ÌÍÎÏĨĪĬĮİ", "I"), ("ìíîïĩīĭįı", "i"), ("Ĵ", "J"), ("ĵ", "j"), ("Ķ", "K"), ("ķĸ", "k"), ("ĹĻĽĿŁ", "L"),
            ("ĺļľŀł", "l"), ("ÑŃŅŇ", "N"), ("ñńņňŉ", "n"), ("ÒÓÔÕÖØŌŎŐ", "O"), ("òóôõöøōŏő", "o"), ("ŔŖŘ", "R"),
            ("ŕŗř", "r"), ("ŚŜŞŠȘ", "S"), ("śŝşšș", "s"), ("ŢŤŦȚ", "T"), ("ţťŧț", "t"), ("ÙÚÛÜŨŪŬŮŰŲ", "U"),
            ("ùúûüũūŭůűų", "u"), ("Ŵ", "W"), ("ŵ", "w"), ("ÝŶŸ", "Y"), ("ýŷÿ", "y"), ("ŹŻŽ", "Z"), ("źżž", "z"),
        ]
        for (letters, plain) in groups {
            for letter in letters { table[letter] = plain }
        }
        return table
    }()

    /// The ASCII characters for another one.
    static func of(_ character: Character) -> String {
        // Composed and decomposed letters are the same character and have the same hash.
        if let plain = table[character] { return plain }
        return TextWidth.of(character) == 0 ? "" : "?"
    }
}
