package import NIOHTTP1

/// The rules for the head of a request, checked before its path is looked at (RFC 9112 §3.2, §6.1).
package enum RequestRule {
    /// Checks a head, and converts an absolute target to the usual form: the path in the target, its host in `Host`.
    package static func check(_ head: inout HTTPRequestHead) throws(HTTPViolation) {
        guard head.version == .http1_1 || head.version == .http1_0 else { throw .unsupportedVersion }
        let isHTTP11 = head.version == .http1_1
        guard isHTTP11 || !head.headers.contains(name: "Transfer-Encoding") else { throw .transferEncodingInHTTP10 }
        let hosts = head.headers[canonicalForm: "Host"]
        guard hosts.count == (isHTTP11 ? 1 : hosts.count), hosts.count <= 1, hosts.allSatisfy({ isHost($0) }) else {
            throw .badHost
        }
        if head.uri.utf8.first == UInt8(ascii: "/") {
            guard !head.uri.utf8.contains(UInt8(ascii: "#")), head.method != .CONNECT else { throw .badTarget }
        } else if head.uri == "*" {
            guard head.method == .OPTIONS else { throw .badTarget }
        } else {
            let target = try AbsoluteTarget(head.uri)
            guard head.method != .CONNECT else { throw .badTarget }
            head.uri = target.pathAndQuery
            // RFC 9112 §3.2.2: the field is ignored, and replaced by the target's host.
            head.headers.replaceOrAdd(name: "Host", value: target.host)
        }
    }

    /// Whether a text is a non-empty host with or without a port, as `Host` has it (RFC 3986 §3.2.2).
    package static func isHost(_ text: some StringProtocol) -> Bool {
        var rest = Array(text.utf8)[...]
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")), end > rest.startIndex + 1,
                rest[(rest.startIndex + 1)..<end].allSatisfy({
                    isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                })
            else { return false }
            rest = rest[(end + 1)...]
        } else {
            let name = rest.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, isName(name) else { return false }
            rest = rest[name.endIndex...]
        }
        guard let colon = rest.first else { return true }
        let port = rest.dropFirst()
        return colon == UInt8(ascii: ":") && port.count <= 5 && port.allSatisfy { isDigit($0) }
    }

    /// Whether these bytes are a registered name or an IPv4 address.
    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        var place = bytes.startIndex
        while place < bytes.endIndex {
            if bytes[place] == UInt8(ascii: "%") {
                guard bytes.endIndex - place >= 3, isHexadecimal(bytes[place + 1]), isHexadecimal(bytes[place + 2])
                else { return false }
                place += 3
            } else {
                guard isDigit(bytes[place]) || isLetter(bytes[place]) || marks.contains(bytes[place]) else {
                    return false
                }
                place += 1
            }
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    /// The characters of a name besides letters and digits (RFC 3986 §2.2, §2.3).
    private static let marks = Set("-._~!$&'()*+,;=".utf8)
}

/// A target in absolute form (RFC 9112 §3.2.2).
private struct AbsoluteTarget {
    let host: String
    let pathAndQuery: String

    init(_ uri: String) throws(HTTPViolation) {
        let schemes = ["http://", "https://"]
        guard !uri.utf8.contains(UInt8(ascii: "#")),
            let scheme = schemes.first(where: { uri.prefix($0.count).lowercased() == $0 })
        else { throw .badTarget }
        let rest = uri.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard RequestRule.isHost(authority) else { throw .badTarget }
        host = String(authority)
        let path = rest[authority.endIndex...]
        pathAndQuery = path.first == "/" ? String(path) : "/\(path)"
    }
}
