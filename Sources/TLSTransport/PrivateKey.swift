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

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// The PEM form (PKCS #8, unencrypted); `nil` only when memory is short.
    var pem: [UInt8]? {
        let memory = MemoryBIO()
        return unsafe PEM_write_bio_PKCS8PrivateKey(memory.pointer, pointer, nil, nil, 0, nil, nil) == 1
            ? memory.bytes : nil
    }
}
