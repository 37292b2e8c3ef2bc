internal import COpenSSL

/// One reference to a private key.
@safe struct PrivateKey: ~Copyable {
    /// For `X509Certificate` alone.
    @unsafe let pointer: OpaquePointer

    /// Makes a key on the curve P-256.
    init() throws(TLSFault) {
        OpenSSLError.clearQueue()
        guard let pointer = unsafe backline_make_p256_key() else { throw TLSFault.setup(OpenSSLError.takeLast()) }
        unsafe self.pointer = pointer
    }

    /// Reads an unencrypted key from a PEM file's content.
    init(pem: [UInt8]) throws(OpenSSLError) {
        OpenSSLError.clearQueue()
        let memory = MemoryBIO(pem)
        // A passphrase is never asked for: the callback has none.
        guard let pointer = unsafe PEM_read_bio_PrivateKey(memory.pointer, nil, { _, _, _, _ in -1 }, nil) else {
            throw OpenSSLError.takeLast()
        }
        unsafe self.pointer = pointer
    }

    /// Reads the key of a PEM file that only its owner may read, and makes the file if there is none.
    ///
    /// Blocks.
    static func load(orMakeAt path: String) throws(TLSFault) -> PrivateKey {
        if try Files.contents(path) == nil {
            guard let pem = try PrivateKey().pem else { throw .setup(OpenSSLError.takeLast()) }
            try Files.write(pem, to: path, mode: 0o600, replacing: false)
        }
        Files.keepToOwner(path)
        // Read back even if made here: another process may have written its key first, and that one is used.
        let pem = try Files.contents(path) ?? []
        do throws(OpenSSLError) {
            return try PrivateKey(pem: pem)
        } catch {
            throw .invalidPrivateKey(path: path, error)
        }
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// The SHA-256 of the public half in its binary form; `nil` only when memory is short.
    var publicDigest: SHA256Digest? {
        let count = unsafe Int(i2d_PUBKEY(pointer, nil))
        guard count > 0 else { return nil }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
            // Writes exactly as many bytes as it said, which is the capacity.
            var place = bytes.baseAddress
            written = unsafe Int(i2d_PUBKEY(pointer, &place))
        }
        return SHA256Digest(hashing: bytes)
    }

    /// The PEM form (PKCS #8, unencrypted); `nil` only when memory is short.
    var pem: [UInt8]? {
        let memory = MemoryBIO()
        return unsafe PEM_write_bio_PKCS8PrivateKey(memory.pointer, pointer, nil, nil, 0, nil, nil) == 1
            ? memory.bytes : nil
    }
}
