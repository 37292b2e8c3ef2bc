internal import COpenSSL

/// A key that verifies signatures of a message's SHA-256, by one of three algorithms of JSON Web Signatures (RFC 7518 §3).
package struct SignatureKey: Sendable {
    /// How a key is used; the text is the one of RFC 7518.
    package enum Algorithm: String, Sendable {
        /// HMAC, with a secret that both sides have.
        case hs256 = "HS256"
        /// ECDSA on the curve P-256.
        case es256 = "ES256"
        /// RSA with the padding of PKCS #1, version 1.5.
        case rs256 = "RS256"
    }

    private enum Material: Sendable {
        case secret([UInt8])
        case elliptic(PublicKey)
        case rsa(PublicKey)
    }

    /// The bytes of a coordinate, and of each half of a signature, on P-256.
    private static let halfCount = 32
    /// A SubjectPublicKeyInfo (RFC 5480 §2) of a point on P-256 that is not compressed, up to its coordinates.
    private static let pointPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    private let material: Material

    /// The one algorithm for which this key is used.
    package var algorithm: Algorithm {
        switch material {
        case .secret: .hs256
        case .elliptic: .es256
        case .rsa: .rs256
        }
    }

    private init(_ material: Material) {
        self.material = material
    }

    /// A secret for HS256, of any length.
    package init(secret: [UInt8]) {
        self.init(.secret(secret))
    }

    /// A public key for ES256 in PEM format; nil if this is none, or one on another curve.
    package init?(p256PEM pem: [UInt8]) {
        guard let key = PublicKey(pem: pem), key.isOnP256 else { return nil }
        self.init(.elliptic(key))
    }

    /// A public key for ES256: a point of P-256, each coordinate in 32 bytes; nil if this is none.
    package init?(x: [UInt8], y: [UInt8]) {
        guard x.count == Self.halfCount, y.count == Self.halfCount, let key = PublicKey(info: Self.pointPrefix + x + y)
        else { return nil }
        self.init(.elliptic(key))
    }

    /// A public key for RS256, of two numbers without a sign, the most significant byte first; nil if they are none, or
    /// have fewer than 2,048 bits (RFC 7518 §3.3).
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        let numbers = DER.sequence([DER.integer(modulus), DER.integer(exponent)])
        guard let key = PublicKey(rsa: numbers), key.bitCount >= 2_048 else { return nil }
        self.init(.rsa(key))
    }

    /// Whether `signature` is this key's signature of `message`, as RFC 7518 has it.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch material {
        case .secret(let secret):
            // In a time that does not tell where the two differ.
            let code = Self.code(of: message, secret: secret)
            return unsafe signature.count == code.count && CRYPTO_memcmp(signature, code, code.count) == 0
        case .elliptic(let key):
            // Both halves have their full length; OpenSSL takes them as a sequence of numbers (RFC 3279 §2.2.3).
            guard signature.count == 2 * Self.halfCount else { return false }
            let halves = [signature[..<Self.halfCount], signature[Self.halfCount...]]
            return key.verifies(DER.sequence(halves.map { DER.integer($0) }), of: message)
        case .rsa(let key):
            return key.verifies(signature, of: message)
        }
    }

    private static func code(of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { output, count in
            // Writes exactly the 32 bytes of a SHA-256, which are the capacity; nothing only when memory is short.
            let made = unsafe HMAC(
                EVP_sha256(), secret, Int32(clamping: secret.count), message, message.count, output.baseAddress, nil)
            count = unsafe made == nil ? 0 : SHA256Digest.byteCount
        }
    }
}

/// One reference to a public key.
// Sendable: `EVP_PKEY` counts its references atomically, and is only read after it was made.
@safe private final class PublicKey: @unchecked Sendable {
    @unsafe private let pointer: OpaquePointer

    /// Reads a key from a PEM file's content.
    convenience init?(pem: [UInt8]) {
        let memory = MemoryBIO(pem)
        unsafe self.init(PEM_read_bio_PUBKEY(memory.pointer, nil, { _, _, _, _ in -1 }, nil))
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1).
    convenience init?(info: [UInt8]) {
        unsafe self.init(
            info.withUnsafeBufferPointer { bytes in
                var place = bytes.baseAddress
                return unsafe d2i_PUBKEY(nil, &place, bytes.count)
            })
    }

    /// Reads an RSAPublicKey (RFC 8017 §A.1.1).
    convenience init?(rsa: [UInt8]) {
        unsafe self.init(
            rsa.withUnsafeBufferPointer { bytes in
                var place = bytes.baseAddress
                return unsafe d2i_PublicKey(EVP_PKEY_RSA, nil, &place, bytes.count)
            })
    }

    /// Takes over a key; nil if there is none, or its numbers cannot be a key's.
    private init?(_ pointer: OpaquePointer?) {
        defer { OpenSSLError.clearQueue() }
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
        guard let context = unsafe EVP_PKEY_CTX_new(pointer, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_public_check(context) == 1 else { return nil }
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    var bitCount: Int32 { unsafe EVP_PKEY_get_bits(pointer) }

    var isOnP256: Bool {
        defer { OpenSSLError.clearQueue() }
        var name = [CChar](repeating: 0, count: 32), count = 0
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 else { return false }
        return name.prefix(count).elementsEqual("prime256v1".utf8.map { CChar($0) })
    }

    /// Whether `signature`, in OpenSSL's format, is this key's signature of `message`.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        // An entry that is left would be taken for a failure of a connection.
        defer { OpenSSLError.clearQueue() }
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// The parts of DER (X.690) that keys and signatures are made of.
private enum DER {
    static func sequence(_ parts: [[UInt8]]) -> [UInt8] { value(0x30, Array(parts.joined())) }

    /// A number that is not negative, whose most significant byte comes first.
    static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        // The first bit is the sign.
        return value(0x02, digits.first.map { $0 < 0x80 } ?? false ? digits : [0] + digits)
    }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        let size = (0..<8).reversed().map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(size.count)] + size + content
    }
}
