import ByteText
import JWTKit
import RoomWire

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
    private let signature: any JWTAlgorithm

    /// The value of `alg` in tokens of this key.
    var algorithm: String { signature.name }

    /// Whether `signature` is this key's signature of `text`.
    func verifies(_ signature: [UInt8], of text: [UInt8]) -> Bool {
        // Bytes that do not even have the form of a signature are thrown as an error.
        (try? self.signature.verify(signature, signs: text)) ?? false
    }

    private init(
        _ id: String?, _ fault: Fault, _ add: (isolated JWTKeyCollection, JWKIdentifier) throws -> Void
    ) async throws(Fault) {
        let collection = JWTKeyCollection()
        let name = JWKIdentifier(string: id ?? "")
        do {
            try await add(collection, name)
            signature = try await collection.getKey(for: name)
        } catch {
            throw fault
        }
        self.id = id
    }

    // MARK: Sources of keys

    /// A secret that is shared with the provider, for HS256.
    package static func secret(_ bytes: [UInt8], id: String? = nil) async throws(Fault) -> TokenKey {
        guard bytes.count >= 32 else { throw .shortSecret(bytes.count) }
        return try await TokenKey(id, .noUsableKey) { collection, name in
            collection.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256, kid: name)
        }
    }

    /// A provider's public key in PEM format, for ES256.
    package static func publicKey(pem: String) async throws(Fault) -> TokenKey {
        try await TokenKey(nil, .noPublicKey) { collection, name in
            collection.add(ecdsa: try ES256PublicKey(pem: pem), kid: name)
        }
    }

    /// The keys of a JSON Web Key Set (RFC 7517) for ES256, RS256 or HS256; others are left out.
    package static func keySet(json: [UInt8]) async throws(Fault) -> [TokenKey] {
        let entries: [JSONValue]?
        do {
            entries = try JSONValue(parsing: json).object?["keys"]?.array
        } catch {
            throw .noKeySet
        }
        guard let entries else { throw .noKeySet }
        var keys: [TokenKey] = []
        for entry in entries {
            guard let key = entry.object, key["use"].map({ $0.string == "sig" }) ?? true else { continue }
            do throws(Fault) {
                if let usable = try await Self.key(key) { keys.append(usable) }
            } catch {
                continue
            }
        }
        guard !keys.isEmpty else { throw .noUsableKey }
        return keys
    }

    /// Reads a key; nil if it is for another use.
    private static func key(_ entry: JSONObject) async throws(Fault) -> TokenKey? {
        func text(_ name: String) -> String? { entry[name]?.string }
        let id = text("kid")
        switch (text("kty"), text("alg"), text("crv")) {
        case ("EC", "ES256", "P-256"), ("EC", nil, "P-256"):
            return try await TokenKey(id, .noUsableKey) { collection, name in
                try collection.add(
                    jwk: .ecdsa(.es256, identifier: name, x: text("x"), y: text("y"), curve: .p256))
            }
        case ("RSA", "RS256", nil), ("RSA", nil, nil):
            return try await TokenKey(id, .noUsableKey) { collection, name in
                try collection.add(jwk: .rsa(.rs256, identifier: name, modulus: text("n"), exponent: text("e")))
            }
        case ("oct", "HS256", nil), ("oct", nil, nil):
            guard let secret = text("k").flatMap({ Base64.url.decode($0.utf8) }) else { return nil }
            return try await self.secret(secret, id: id)
        case (_, _, _):
            return nil
        }
    }
}
