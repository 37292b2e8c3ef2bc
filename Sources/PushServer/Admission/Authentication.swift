import ByteText
import TLSTransport

/// How a request names its session: by a bearer token or by the session's cookie (protocol, section 1).
enum Authentication {
    /// The name of the cookie that holds the token.
    ///
    /// Browsers give the prefix `__Host-` a meaning (RFC 6265bis §4.1.3.2): they accept such a cookie only from the
    /// host itself, over TLS, for all paths and without `Domain`. No sibling host can therefore replace it.
    static let cookieName = "__Host-backline_session"
    private static let prefix = "bls_"
    private static let randomCharacters = 43

    /// Makes a new token of 256 random bits.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        return prefix + Base64.url.encode(bytes)
    }

    /// The token's SHA-256, the only form in which a token is stored.
    static func hash(_ token: String) -> [UInt8] {
        SHA256Digest(hashing: Array(token.utf8)).bytes
    }

    /// The value of `Set-Cookie` that lets a browser keep a token for the lifetime of the session.
    static func cookie(token: String, lifetimeMs: Int64) -> String {
        "\(cookieName)=\(token); Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=\(lifetimeMs / 1_000)"
    }

    /// The token in a request's `Authorization` and `Cookie` fields; nil if none has the right form.
    ///
    /// A browser has one such cookie for a host. If a request has several, another party has set one of them, and none
    /// is accepted.
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

    /// The token in an `Authorization` field, of any issuer; nil if there is none.
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
