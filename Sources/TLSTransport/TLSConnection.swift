internal import COpenSSL
internal import NIOCore

/// One connection's `SSL` object, and the calls into OpenSSL that its handler makes.
///
/// Every call may leave ciphertext in the loop's shared resources, which the caller must take before anything else
/// happens on the loop. Confined to the event loop of its resources.
@safe struct TLSConnection: ~Copyable {
    /// The progress of a handshake.
    enum HandshakeStep {
        case done(TLSHandshakeCompleted)
        case needsBytes
        case failed(TLSFault)
    }

    /// The reason why reading stopped.
    enum ReadEnd {
        /// The shared plaintext buffer is full; there may be more.
        case bufferFull
        /// All input is used up.
        case needsBytes
        /// The peer sent `close_notify`.
        case closeNotify
        case failed(TLSFault)
    }

    /// The result of encrypting bytes.
    enum WriteResult {
        /// They are in the shared ciphertext buffer.
        case written
        /// The peer is in the middle of a handshake message: nothing can be written until the rest of it arrives.
        case blocked
        case failed(TLSFault)
    }

    private let ssl: OpaquePointer
    private let resources: TLSEventLoopResources
    private let context: TLSContext

    /// Makes the object for one side of a connection.
    ///
    /// On a client, `serverName` is the name to request and to verify; a server does not use it.
    static func make(
        _ context: TLSContext, _ resources: TLSEventLoopResources, serverName: String?
    ) throws(TLSFault) -> TLSConnection {
        OpenSSLError.clearQueue()
        guard let ssl = unsafe SSL_new(context.pointer) else { throw TLSFault.setup(OpenSSLError.takeLast()) }
        let connection = unsafe TLSConnection(owning: ssl, context, resources)
        if context.role == .client, let serverName { try connection.setServerName(serverName) }
        return connection
    }

    private init(owning ssl: OpaquePointer, _ context: TLSContext, _ resources: TLSEventLoopResources) {
        unsafe self.ssl = ssl
        self.resources = resources
        self.context = context
        // Each of the two calls takes over one reference to the BIO.
        unsafe BIO_up_ref(resources.bio)
        unsafe SSL_set0_rbio(ssl, resources.bio)
        unsafe BIO_up_ref(resources.bio)
        unsafe SSL_set0_wbio(ssl, resources.bio)
        switch context.role {
        case .server: unsafe SSL_set_accept_state(ssl)
        case .client: unsafe SSL_set_connect_state(ssl)
        }
    }

    deinit {
        resources.discardCiphertext(of: identity)
        // Sends nothing and calls no callback; releases its references to the BIO and the context.
        unsafe SSL_free(ssl)
    }

    /// Continues the handshake with the bytes in `input`.
    func handshake(_ input: inout ByteBuffer) -> HandshakeStep {
        let (result, end) = call(&input) { unsafe SSL_do_handshake(ssl) }
        if result == 1 { return completed() }
        if end == SSL_ERROR_WANT_READ { return .needsBytes }
        return .failed(handshakeFault())
    }

    /// Decrypts `input` into the shared plaintext buffer until that is full or `input` is used up.
    ///
    /// Decrypted bytes are authentic, even if the end is a failure.
    func read(_ input: inout ByteBuffer) -> ReadEnd {
        resources.plaintext.reserveCapacity(TLSEventLoopResources.recordLimit)
        while true {
            var result: Int32 = 0
            var end: Int32 = 0
            unsafe resources.plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: 1) { space in
                // OpenSSL writes at most as many bytes as fit into the buffer.
                (result, end) = call(&input) {
                    unsafe SSL_read(ssl, space.baseAddress, Int32(clamping: space.count))
                }
                return Int(max(result, 0))
            }
            guard result <= 0 else {
                if resources.plaintext.writableBytes == 0 { return .bufferFull }
                continue
            }
            switch end {
            case SSL_ERROR_WANT_READ: return .needsBytes
            case SSL_ERROR_ZERO_RETURN: return .closeNotify
            default: return .failed(.record(OpenSSLError.takeLast()))
            }
        }
    }

    /// Encrypts `bytes`, all or none of them.
    ///
    /// - Precondition: there is at least one byte.
    func write(_ bytes: ByteBuffer) -> WriteResult {
        var noInput = ByteBuffer()
        let (result, end) = call(&noInput) {
            unsafe bytes.withUnsafeReadableBytes { unsafe SSL_write(ssl, $0.baseAddress, Int32(clamping: $0.count)) }
        }
        // Without SSL_MODE_ENABLE_PARTIAL_WRITE, and with a BIO that takes everything, all of it is written.
        if result > 0 { return .written }
        return end == SSL_ERROR_WANT_READ ? .blocked : .failed(.record(OpenSSLError.takeLast()))
    }

    /// Writes `close_notify`, once.
    func shutdown() {
        var noInput = ByteBuffer()
        _ = call(&noInput) { unsafe SSL_shutdown(ssl) }
        OpenSSLError.clearQueue()
    }

    /// Drops ciphertext that has not been taken: it must not be sent to the peer.
    func discardCiphertext() {
        resources.discardCiphertext(of: identity)
    }

    /// Distinguishes this connection's ciphertext from another's.
    ///
    /// It is never turned back into a pointer.
    private var identity: UInt { UInt(bitPattern: unsafe ssl) }

    /// Makes one call into OpenSSL with an empty error queue, and at once asks how it ended.
    ///
    /// `SSL_get_error` looks at the retry flags of the shared BIO, so no other connection's call may come between.
    private func call(_ input: inout ByteBuffer, _ body: () -> Int32) -> (result: Int32, end: Int32) {
        OpenSSLError.clearQueue()
        return resources.lend(to: identity, &input) {
            let result = body()
            return (result, result > 0 ? SSL_ERROR_NONE : unsafe SSL_get_error(ssl, result))
        }
    }

    private borrowing func setServerName(_ name: String) throws(TLSFault) {
        let isAddress = HostName.isAddress(name)
        guard isAddress || HostName.isValid(name) else { throw TLSFault.invalidHostName(name) }
        // RFC 6066 §3: an address is not a server name.
        if !isAddress, unsafe backline_ssl_set_server_name(ssl, name) != 1 {
            throw TLSFault.setup(OpenSSLError.takeLast())
        }
        guard context.verification?.checksHostName == true else { return }
        // The parameters belong to `ssl` and are only used here.
        let parameters = unsafe SSL_get0_param(ssl)
        // RFC 9525 §6.3 and §2: a wildcard is a whole label, and a common name is not a host name.
        unsafe X509_VERIFY_PARAM_set_hostflags(
            parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        let accepted =
            isAddress
            ? unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
            : unsafe X509_VERIFY_PARAM_set1_host(parameters, name, 0)
        guard accepted == 1 else { throw TLSFault.invalidHostName(name) }
    }

    private func completed() -> HandshakeStep {
        if case .fingerprint(let expected)? = context.verification {
            let actual = peerFingerprint()
            guard actual == expected else { return .failed(.fingerprintMismatch(expected: expected, actual: actual)) }
        }
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        // The name belongs to `ssl` and is copied here.
        let selected = unsafe UnsafeBufferPointer(start: name, count: Int(count))
        return .done(
            TLSHandshakeCompleted(
                applicationProtocol: count == 0 ? nil : unsafe String(decoding: selected, as: UTF8.self),
                version: unsafe SSL_version(ssl) == TLS1_3_VERSION ? .tls13 : .tls12,
                resumed: unsafe SSL_session_reused(ssl) == 1))
    }

    private func handshakeFault() -> TLSFault {
        let error = OpenSSLError.takeLast()
        let verification = unsafe SSL_get_verify_result(ssl)
        guard context.role == .client, verification != X509_V_OK, context.verification?.checksHostName == true else {
            return .handshake(error)
        }
        return .certificateRejected(CertificateRejection(verification))
    }

    /// The SHA-256 of the peer's certificate; `nil` if it sent none.
    private func peerFingerprint() -> SHA256Digest? {
        guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        // `SSL_get1_` gives us a reference of our own, and the certificate takes it over.
        return unsafe X509Certificate(owning: certificate).fingerprint
    }
}
