import ByteText
import TLSTransport

/// How a request says whose it is: a bearer token or the session's cookie (protocol, section 1).
enum Authentication {
    /// The cookie that holds the token.
    ///
    /// The prefix `__Host-` (RFC 6265bis §4.1.3.2) is a promise of browsers: they keep such a cookie only from the host
    /// itself, over TLS, for all paths and without `Domain`, so that no sibling host can put one in its place.
    static let cookieName = "__Host-backline_session"
    private static let prefix = "bls_"
    private static let randomCharacters = 43

    /// A new token: 256 random bits.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        return prefix + Base64.url.encode(bytes)
    }

    /// The token's SHA-256: all that is stored of it.
    static func hash(_ token: String) -> [UInt8] {
        SHA256Digest(hashing: Array(token.utf8)).bytes
    }

    /// The value of `Set-Cookie` by which a browser keeps a token for as long as the session lasts.
    static func cookie(token: String, lifetimeMs: Int64) -> String {
        "\(cookieName)=\(token); Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=\(lifetimeMs / 1_000)"
    }

    /// The token in a request's `Authorization` and `Cookie` fields; nil where there is none of the right form.
    ///
    /// A browser has one such cookie for a host. Where a request has several, somebody else has put one there, and none
    /// is taken.
    static func token(authorization: String?, cookies: [String]) -> String? {
        if let authorization {
            return bearer(authorization).flatMap { checked($0[...]) }
        }
        var found: Substring?
        for pair in cookies.flatMap({ $0.split(separator: ";") }) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == cookieName else { continue }
            guard found == nil else { return nil }
            found = parts[1]
        }
        return found.flatMap(checked)
    }

    /// The token in an `Authorization` field, whoever made it; nil where there is none.
    static func bearer(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    private static func checked(_ text: Substring) -> String? {
        let token = String(text.drop { $0 == " " })
        guard token.hasPrefix(prefix), token.utf8.count == prefix.utf8.count + randomCharacters else { return nil }
        return token
    }
}
