/// The way in which a client verifies that it talks to the right server.
package enum ServerVerification: Hashable, Sendable {
    /// By a chain to the system's trust store, and the host name.
    ///
    /// The store is OpenSSL's: its directory of certificates, or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
    case system
    /// By a chain to the system's trust store or to a certificate in this PEM file, and the host name.
    case systemAnd(path: String)
    /// By a chain to a certificate in this PEM file, and the host name.
    case certificateAuthority(path: String)
    /// By the SHA-256 of the server's certificate (DER) only; its names and dates do not matter.
    ///
    /// For servers with a self-signed certificate, which print its fingerprint.
    case fingerprint(SHA256Digest)
    /// No verification: anybody in between can read and change everything. For tests only.
    case noneForTests

    /// Whether the certificate must cover the host that the client wants to reach.
    var checksHostName: Bool {
        switch self {
        case .system, .systemAnd, .certificateAuthority: true
        case .fingerprint, .noneForTests: false
        }
    }
}
