import ByteText
import RoomWire
import TLSTransport

/// A key of an identity provider, and the one algorithm for which it is used.
///
/// A token does not choose how it is verified (RFC 8725 §3.1): a key does not verify tokens that name another
/// algorithm.
package struct TokenKey: Sendable {
    /// The reason why a key cannot be used.
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case shortSecret(Int)
        case noPublicKey
        case noKeySet
        case noUsableKey

        package var description: String {
            switch self {
            case .shortSecret(let count):
                // RFC 7518 §3.2: the key must be at least as long as the hash.
                "a secret for HS256 has at least 32 bytes, this one has \(count)"
            case .noPublicKey: "this is not a P-256 public key in PEM format (-----BEGIN PUBLIC KEY-----)"
            case .noKeySet: "this is not a JSON Web Key Set; expected {\"keys\":[…]}"
            case .noUsableKey: "this set has no key for ES256, RS256 or HS256"
            }
        }
    }

    /// Its name in a key set; a token that names another key is not verified with this one.
    let id: String?
    private let key: SignatureKey

    /// The value of `alg` in tokens of this key.
    var algorithm: String { key.algorithm.rawValue }

    /// Whether `signature` is this key's signature of `text`.
    func verifies(_ signature: [UInt8], of text: [UInt8]) -> Bool { key.verifies(signature, of: text) }

    // MARK: Sources of keys

    /// A secret that is shared with the provider, for HS256.
    package static func secret(_ bytes: [UInt8], id: String? = nil) throws(Fault) -> TokenKey {
        guard bytes.count >= 32 else { throw .shortSecret(bytes.count) }
        return TokenKey(id: id, key: SignatureKey(secret: bytes))
    }

    /// A provider's public key in PEM format, for ES256.
    package static func publicKey(pem: [UInt8]) throws(Fault) -> TokenKey {
        guard let key = SignatureKey(p256PEM: pem) else { throw .noPublicKey }
        return TokenKey(id: nil, key: key)
    }

    /// The keys of a JSON Web Key Set (RFC 7517) for ES256, RS256 or HS256; others are left out.
    package static func keySet(json: [UInt8]) throws(Fault) -> [TokenKey] {
        let entries: [JSONValue]?
        do {
            entries = try JSONValue(parsing: json).object?["keys"]?.array
        } catch {
            throw .noKeySet
        }
        guard let entries else { throw .noKeySet }
        let keys = entries.compactMap { $0.object.flatMap(Self.key) }
        guard !keys.isEmpty else { throw .noUsableKey }
        return keys
    }

    /// Reads a key (RFC 7518 §6); nil if it is for another use, or none.
    private static func key(_ entry: JSONObject) -> TokenKey? {
        func text(_ name: String) -> String? { entry[name]?.string }
        func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64.url.decode($0.utf8) } }
        guard entry["use"].map({ $0.string == "sig" }) ?? true else { return nil }
        let id = text("kid")
        switch (text("kty"), text("alg"), text("crv")) {
        case ("EC", "ES256", "P-256"), ("EC", nil, "P-256"):
            guard let x = bytes("x"), let y = bytes("y") else { return nil }
            return SignatureKey(x: x, y: y).map { TokenKey(id: id, key: $0) }
        case ("RSA", "RS256", nil), ("RSA", nil, nil):
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            return SignatureKey(modulus: modulus, exponent: exponent).map { TokenKey(id: id, key: $0) }
        case ("oct", "HS256", nil), ("oct", nil, nil):
            // One that is too short is none.
            return bytes("k").flatMap { try? secret($0, id: id) }
        case (_, _, _):
            return nil
        }
    }
}
