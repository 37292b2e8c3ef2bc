internal import COpenSSL
internal import Glibc

/// The configuration that all connections of one kind share: certificate and key, versions, ciphers, verification.
///
/// Both kinds speak TLS 1.2 and 1.3 only, without compression and renegotiation; for TLS 1.2 only
/// suites with an ephemeral key exchange and an AEAD cipher (RFC 9325 §4.2). The system's OpenSSL
/// configuration may narrow this further.
///
/// A context is made once and serves any number of connections on any number of event loops.
// Sendable: an `SSL_CTX` counts its references atomically and locks what connections change in it
// (tickets, the certificate store). It is configured in the initialisers below, before anybody else
// can have it, and never after; `pointer` is constant.
@safe package final class TLSContext: @unchecked Sendable {
    /// The side of the handshake that a context is for.
    package enum Role: Hashable, Sendable {
        /// Accepts handshakes.
        case server
        /// Begins handshakes.
        case client
    }

    /// The application protocol that both sides offer and accept: ALPN's name of HTTP/1.1 (RFC 7301 §6).
    package static let applicationProtocol = "http/1.1"

    /// The side of the handshake.
    package let role: Role

    /// The verification of servers by a client; `nil` in a server's context.
    package let verification: ServerVerification?

    /// The keys that the context's callbacks use; nil in a client's context.
    private let ticketKeys: TicketKeys?

    /// For `TLSConnection` only, which makes its `SSL` from it.
    @unsafe let pointer: OpaquePointer

    /// Makes a server's context from PEM files.
    ///
    /// `certificateChain` holds the server's certificate first and then its intermediates, `privateKey` the unencrypted
    /// key. A client that offers ALPN without `http/1.1` is refused with the alert `no_application_protocol` (RFC 7301
    /// §3.2); a client without ALPN is served. Sessions are resumed by stateless tickets, whose key is replaced every
    /// day.
    ///
    /// - Throws: ``TLSFault`` naming the file and the reason. Blocks while it reads the files.
    package convenience init(serverCertificateChain: String, privateKey: String) throws(TLSFault) {
        try self.init(serverCertificateChain: serverCertificateChain, privateKey: privateKey, ticketKeys: TicketKeys())
    }

    /// Makes a server's context with ticket keys that the caller shares; see
    /// ``init(serverCertificateChain:privateKey:)``.
    convenience init(serverCertificateChain: String, privateKey: String, ticketKeys: TicketKeys) throws(TLSFault) {
        try self.init(role: .server, verification: nil, ticketKeys: ticketKeys)
        try useCertificateChain(serverCertificateChain)
        try usePrivateKey(privateKey, certificateChain: serverCertificateChain)
        unsafe SSL_CTX_set_alpn_select_cb(pointer, selectApplicationProtocol, nil)
        // One ticket for each full handshake: a client that opens several connections at once uses the same one.
        unsafe SSL_CTX_set_num_tickets(pointer, 1)
        guard unsafe ticketKeys.attach(to: pointer) else { throw TLSFault.setup(OpenSSLError.takeLast()) }
    }

    /// Makes a client's context, which offers ALPN `http/1.1`.
    ///
    /// - Throws: ``TLSFault`` if the system's trust store or the given file cannot be used. Blocks.
    package convenience init(clientVerifying verification: ServerVerification) throws(TLSFault) {
        try self.init(role: .client, verification: verification)
        switch verification {
        case .system:
            try trustSystem()
        case .systemAnd(let path):
            try trustSystem()
            try trustCertificates(path)
        case .certificateAuthority(let path):
            try trustCertificates(path)
        case .fingerprint, .noneForTests:
            // A pinned certificate is compared by the handler once the handshake is done.
            break
        }
        unsafe SSL_CTX_set_verify(pointer, verification.checksHostName ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        let protocols = [UInt8(Self.applicationProtocol.utf8.count)] + Array(Self.applicationProtocol.utf8)
        // Unlike similar functions, this one returns 0 for success.
        guard unsafe SSL_CTX_set_alpn_protos(pointer, protocols, UInt32(protocols.count)) == 0 else {
            throw TLSFault.setup(OpenSSLError.takeLast())
        }
    }

    private init(
        role: Role, verification: ServerVerification?, ticketKeys: TicketKeys? = nil
    ) throws(TLSFault) {
        OpenSSLError.clearQueue()
        let method = unsafe role == .server ? TLS_server_method() : TLS_client_method()
        guard let context = unsafe SSL_CTX_new(method) else { throw TLSFault.setup(OpenSSLError.takeLast()) }
        unsafe self.pointer = context
        self.role = role
        self.verification = verification
        self.ticketKeys = ticketKeys
        unsafe backline_ctx_set_modes(context)
        unsafe backline_ctx_set_options(context)
        unsafe backline_ctx_session_cache_off(context)
        // Otherwise OpenSSL would ask for the passphrase of an encrypted key on the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        guard unsafe backline_ctx_set_versions(context) == 1,
            // 128-bit AES first: as safe here as 256 bits, and less work for each record.
            unsafe SSL_CTX_set_ciphersuites(
                context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1,
            unsafe SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1
        else { throw TLSFault.setup(OpenSSLError.takeLast()) }
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }

    /// The time in which a server's certificate is valid, in seconds since the Unix epoch; empty in a client's context.
    var certificateValidity: Range<Int> {
        // The certificate belongs to the context, and the times to the certificate.
        guard let certificate = unsafe SSL_CTX_get0_certificate(pointer) else { return 0..<0 }
        var (begin, end) = unsafe (tm(), tm())
        guard unsafe ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &begin) == 1,
            unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) == 1
        else { return 0..<0 }
        let (from, to) = unsafe (timegm(&begin), timegm(&end))
        return from..<max(from, to)
    }

    /// The SHA-256 of a server's certificate; nil in a client's context.
    var certificateFingerprint: SHA256Digest? {
        guard let certificate = unsafe SSL_CTX_get0_certificate(pointer) else { return nil }
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        // Writes exactly the 32 bytes of a SHA-256.
        guard unsafe X509_digest(certificate, EVP_sha256(), &bytes, nil) == 1 else { return nil }
        return SHA256Digest(bytes: bytes)
    }

    private func trustSystem() throws(TLSFault) {
        guard unsafe SSL_CTX_set_default_verify_paths(pointer) == 1 else {
            throw TLSFault.setup(OpenSSLError.takeLast())
        }
    }

    private func trustCertificates(_ path: String) throws(TLSFault) {
        try Files.requireReadable(path)
        guard unsafe SSL_CTX_load_verify_file(pointer, path) == 1 else {
            throw TLSFault.invalidCertificate(path: path, OpenSSLError.takeLast())
        }
    }

    private func useCertificateChain(_ path: String) throws(TLSFault) {
        try Files.requireReadable(path, upTo: Files.sizeLimit)
        guard unsafe SSL_CTX_use_certificate_chain_file(pointer, path) == 1 else {
            throw TLSFault.invalidCertificate(path: path, OpenSSLError.takeLast())
        }
    }

    private func usePrivateKey(_ path: String, certificateChain: String) throws(TLSFault) {
        try Files.requireReadable(path, upTo: Files.sizeLimit)
        guard unsafe SSL_CTX_use_PrivateKey_file(pointer, path, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(pointer) == 1
        else {
            let error = OpenSSLError.takeLast()
            if error.isKeyMismatch { throw TLSFault.keyMismatch(certificate: certificateChain, key: path) }
            throw TLSFault.invalidPrivateKey(path: path, error)
        }
    }
}

/// Selects `http/1.1` from a client's offer, and refuses an offer without it.
///
/// An `SSL_CTX_alpn_select_cb_func`: called by OpenSSL inside the handshake, on the connection's thread.
private func selectApplicationProtocol(
    _: OpaquePointer?,
    _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?,
    _ offer: UnsafePointer<UInt8>?,
    _ offerCount: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let selected = unsafe selected, let selectedCount = unsafe selectedCount else {
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
    // OpenSSL has checked that the list is well formed: each name follows its length (RFC 7301 §3.1).
    let names = unsafe UnsafeBufferPointer(start: offer, count: Int(offerCount))
    var index = 0
    while index < names.count {
        let start = index + 1
        let end = start + Int(unsafe names[index])
        guard end <= names.count else { break }
        if unsafe names[start..<end].elementsEqual(TLSContext.applicationProtocol.utf8) {
            // Points into the offer, which outlives the call, as the callback's interface requires.
            unsafe selected.pointee = offer.map { unsafe $0 + start }
            unsafe selectedCount.pointee = UInt8(end - start)
            return SSL_TLSEXT_ERR_OK
        }
        index = end
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
