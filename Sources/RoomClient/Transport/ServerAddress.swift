/// The address of a Backline server: `https://party.example`, with a port if it is not 443.
public struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    /// The host's name or IP address, in lower case; an IPv6 address without brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// Whether connections are encrypted, as they are but on this machine.
    public let isSecure: Bool

    /// Reads an address; nil for any other text.
    ///
    /// The scheme may be left out. `http` is taken only for a server on this machine (`localhost`, `127.0.0.1`, `[::1]`):
    /// a token must not cross a network in plain text. Nothing may follow the port but one slash.
    public init?(_ text: String) {
        var rest = Substring(text)
        isSecure = !rest.lowercased().hasPrefix("http://")
        for scheme in ["https://", "http://"] where rest.lowercased().hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
            break
        }
        if rest.hasSuffix("/") { rest.removeLast() }
        var name = rest
        var port = isSecure ? 443 : 80
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            name = rest[rest.index(after: rest.startIndex)..<end]
            guard name.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }), name.contains(":") else { return nil }
            rest = rest[rest.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            rest = rest.dropFirst()
            if !rest.isEmpty {
                guard let given = Self.port(rest) else { return nil }
                port = given
            }
        } else if let colon = rest.firstIndex(of: ":") {
            guard let given = Self.port(rest[rest.index(after: colon)...]) else { return nil }
            name = rest[..<colon]
            port = given
        }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard !name.isEmpty, name.utf8.count <= 253, isName else { return nil }
        host = name.lowercased()
        self.port = port
        guard isSecure || ["localhost", "127.0.0.1", "::1"].contains(host) else { return nil }
    }

    /// Whether the host means, on every device, that device itself: no other one reaches the server by this address.
    ///
    /// `Tests/Tables/loopback.json` has names and what they mean, for the page as well.
    public var isLoopback: Bool {
        let parts = host.split(separator: ".")
        return ["0.0.0.0", "::", "::1"].contains(host) || parts.last == "localhost"
            || parts.first == "127" && parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func port(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(text), (1...65_535).contains(port)
        else { return nil }
        return port
    }

    /// The host and the port, as a `Host` header has them: the port only if it is not the scheme's own.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The address as text, which ``init(_:)`` reads.
    public var description: String { "\(isSecure ? "https" : "http")://\(authority)" }
}
