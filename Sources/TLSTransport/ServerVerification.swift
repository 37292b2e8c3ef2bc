/// How a client decides whether it talks to the right server.
package enum ServerVerification: Hashable, Sendable {
    /// By a chain to the system's trust store, and the host name.
    case system
    /// By a chain to a certificate in this PEM file, and the host name.
    case certificateAuthority(path: String)
    /// By the SHA-256 of the server's certificate (DER) alone; its names and dates do not matter.
    ///
    /// For servers with a self-signed certificate, whose fingerprint they print.
    case fingerprint(SHA256Digest)
    /// Not at all: anybody in between can read and change everything. For tests only.
    case noneForTests

    /// Whether the certificate has to be for the host that the client meant to reach.
    var checksHostName: Bool {
        switch self {
        case .system, .certificateAuthority: true
        case .fingerprint, .noneForTests: false
        }
    }
}
