/// The rule for addresses that clients load from the web, such as a track's artwork.
///
/// Clients put the address into pages and image views unchanged. Only `http` and `https` are safe there: `javascript`,
/// `data` and `file` could run code or reveal data on the device of anybody who opens the room.
package enum WebAddressRule {
    /// The address without white space at its ends, or nil if it breaks the rule.
    ///
    /// O(length of `text`). Trimmed, it has `length` Unicode scalars, none of them white space, a control character or
    /// a backslash, which browsers read as a slash. It is absolute: `http` or `https` in any case, `://`, and a host,
    /// optionally with a port.
    package static func accepted(_ text: String, length: ClosedRange<Int>) -> String? {
        guard let address = TextRule.accepted(text, length: length) else { return nil }
        let scalars = address.unicodeScalars
        guard !scalars.contains(where: { $0.properties.isWhitespace || $0 == "\\" }) else { return nil }
        guard let colon = scalars.firstIndex(of: ":"), isScheme(scalars[..<colon]) else { return nil }
        let rest = scalars[scalars.index(after: colon)...]
        guard rest.starts(with: "//".unicodeScalars) else { return nil }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // User information stands before the last at sign: `user@host`.
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return isHost(host) ? address : nil
    }

    /// Returns the accepted address; refuses with the field's name.
    static func require(_ text: String, _ field: String, _ length: ClosedRange<Int>) throws(RoomRefusal) -> String {
        guard let accepted = accepted(text, length: length) else {
            throw .badRequest(
                "\(field) must be an absolute http or https address of at most \(length.upperBound) characters")
        }
        return accepted
    }

    private static func isScheme(_ scalars: Substring.UnicodeScalarView) -> Bool {
        let name = String(scalars).lowercased()
        return name == "http" || name == "https"
    }

    /// Whether the text is a non-empty name or IP address, optionally with a port of digits.
    private static func isHost(_ scalars: Substring.UnicodeScalarView) -> Bool {
        var port = scalars
        if scalars.first == "[" {
            guard let end = scalars.firstIndex(of: "]") else { return false }
            guard scalars.index(after: scalars.startIndex) < end else { return false }
            port = scalars[scalars.index(after: end)...]
        } else {
            let end = scalars.firstIndex(of: ":") ?? scalars.endIndex
            guard scalars.startIndex < end else { return false }
            port = scalars[end...]
        }
        guard let sign = port.first else { return true }
        return sign == ":" && port.dropFirst().allSatisfy { ("0"..."9").contains($0) }
    }
}
