import ByteText
import RoomWire

/// A person's identity, as an identity provider states it.
package struct Identity: Sendable, Equatable {
    /// The provider; empty if its tokens do not name it.
    package var issuer: String
    /// The provider's identifier for the person; unique at the provider.
    package var subject: String
    /// The person's name, as it came.
    package var name: String?

    package init(issuer: String, subject: String, name: String?) {
        self.issuer = issuer
        self.subject = subject
        self.name = name
    }
}

/// The reason why a token is not accepted; for the operator's log, not for the sender.
package enum TokenViolation: Error, Equatable {
    case tooLong
    case malformed
    /// It requires an extension that is not known here (RFC 7515 §4.1.11).
    case criticalExtension
    /// No configured key has the token's algorithm and name.
    case unknownKey
    case wrongSignature
    case noExpiry
    case expired
    case notYetValid
    case wrongIssuer
    case wrongAudience
    case noSubject
}

/// Checks the JSON Web Tokens (RFC 7519) of an identity provider.
package struct TokenVerifier: Sendable {
    /// The longest token that is accepted, in bytes.
    ///
    /// Long tokens carry groups and photographs; the limit is four times what providers usually send.
    package static let maximumLength = 8_192
    /// The largest error of the provider's clock that is tolerated, in seconds.
    package static let leeway = 5.0
    /// The longest subject, in bytes; OpenID Connect Core §2 allows 255 characters of ASCII.
    private static let maximumSubjectLength = 255

    private let keys: [TokenKey]
    private let issuer: String?
    private let audience: String?

    /// Accepts tokens that one of `keys` has signed; with `issuer` and `audience`, only tokens that name them.
    package init(keys: [TokenKey], issuer: String? = nil, audience: String? = nil) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }

    /// Returns the identity of the token's owner; `now` is in milliseconds since the Unix epoch.
    package func identity(of token: String, at now: Double) throws(TokenViolation) -> Identity {
        let bytes = Array(token.utf8)
        guard bytes.count <= Self.maximumLength else { throw .tooLong }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let signature = Base64.url.decode(parts[2])
        else { throw .malformed }
        try check(signature, of: Array(bytes[..<parts[1].endIndex]), header)
        // Nothing in the token is read before its signature is verified.
        guard let claims = Self.object(parts[1]) else { throw .malformed }
        return try identity(claims, at: now / 1_000)
    }

    private func check(
        _ signature: [UInt8], of text: [UInt8], _ header: JSONObject
    ) throws(TokenViolation) {
        guard header["crit"] == nil else { throw .criticalExtension }
        guard let algorithm = header["alg"]?.string else { throw .malformed }
        let id = header["kid"]?.string
        let candidates = keys.filter {
            $0.algorithm == algorithm && (id == nil || $0.id == nil || $0.id == id)
        }
        guard !candidates.isEmpty else { throw .unknownKey }
        guard candidates.contains(where: { $0.verifies(signature, of: text) }) else { throw .wrongSignature }
    }

    private func identity(_ claims: JSONObject, at now: Double) throws(TokenViolation) -> Identity {
        guard let expiry = claims["exp"]?.number else { throw .noExpiry }
        guard now < expiry + Self.leeway else { throw .expired }
        if let start = claims["nbf"] {
            guard let start = start.number else { throw .malformed }
            guard now >= start - Self.leeway else { throw .notYetValid }
        }
        if let issuer { guard claims["iss"]?.string == issuer else { throw .wrongIssuer } }
        if let audience {
            // One text, or a list of them (RFC 7519 §4.1.3).
            let audiences = claims["aud"].map { $0.array ?? [$0] } ?? []
            guard audiences.contains(.string(audience)) else { throw .wrongAudience }
        }
        guard let subject = claims["sub"]?.string, (1...Self.maximumSubjectLength).contains(subject.utf8.count)
        else { throw .noSubject }
        return Identity(issuer: claims["iss"]?.string ?? "", subject: subject, name: claims["name"]?.string)
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        // A text that is not JSON is not an object.
        Base64.url.decode(part).flatMap { try? JSONValue(parsing: $0) }?.object
    }
}
