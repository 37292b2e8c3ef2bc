internal import COpenSSL
internal import Glibc
package import SystemCalls

/// The reason why a TLS context could not be made, or why a connection was given up.
///
/// `description` is one sentence that an operator can act on: it names the file or the reason.
package enum TLSFault: Error, Hashable, Sendable {
    /// A file could not be opened, made or written.
    case file(path: String, SystemError)
    /// A path leads to a directory, a pipe or something else that is no regular file.
    case notRegularFile(path: String)
    /// A server's certificate is not valid at the present time, and the one that it has is.
    case certificateNotValidNow(path: String, from: Int, to: Int)
    /// A file has no usable PEM certificate, or a chain that OpenSSL refuses.
    case invalidCertificate(path: String, OpenSSLError)
    /// A file has no usable unencrypted PEM private key.
    case invalidPrivateKey(path: String, OpenSSLError)
    /// The private key does not belong to the certificate.
    case keyMismatch(certificate: String, key: String)
    /// The existing certificate was not made by ``DevelopmentCertificate``, so it is not replaced.
    case notDevelopmentCertificate(path: String)
    /// A text is neither a host name nor an IP address.
    case invalidHostName(String)
    /// OpenSSL could not be set up: memory is short, or the installation lacks a feature.
    case setup(OpenSSLError)
    /// The handshake failed: no common version or protocol, invalid bytes, an alert of the peer.
    case handshake(OpenSSLError)
    /// The server's certificate is not trusted, has expired, or belongs to another host.
    case certificateRejected(CertificateRejection)
    /// The server's certificate is not the pinned one.
    case fingerprintMismatch(expected: SHA256Digest, actual: SHA256Digest?)
    /// The peer closed the transport before the handshake was done.
    case closedDuringHandshake
    /// The peer closed the transport without `close_notify`: its data may be incomplete.
    case truncated
    /// A record after the handshake was invalid: a bad MAC, a wrong message, an alert of the peer.
    case record(OpenSSLError)
    /// The peer causes replies (to key updates, renegotiations) and reads none of them.
    case unreadReplies
}

extension TLSFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let path, let error):
            "cannot use the file \(path): \(error)"
        case .notRegularFile(let path):
            "\(path) is not a regular file"
        case .certificateNotValidNow(let path, let from, let to):
            "the certificate in \(path) is valid from \(Self.date(from)) to \(Self.date(to))"
        case .invalidCertificate(let path, let error):
            "\(path) holds no usable PEM certificate chain: \(error)"
        case .invalidPrivateKey(let path, let error):
            "\(path) holds no usable unencrypted PEM private key: \(error)"
        case .keyMismatch(let certificate, let key):
            "the private key in \(key) does not belong to the certificate in \(certificate)"
        case .notDevelopmentCertificate(let path):
            "\(path) is not a development certificate made by this program, and is not replaced: move it away"
        case .invalidHostName(let name):
            "\"\(name)\" is neither a host name nor an IP address"
        case .setup(let error):
            "OpenSSL could not be set up: \(error)"
        case .handshake(let error):
            "the TLS handshake failed: \(error)"
        case .certificateRejected(let reason):
            "the server's certificate is not accepted: \(reason)"
        case .fingerprintMismatch(let expected, let actual):
            "the server's certificate has the fingerprint \(actual?.colonHex ?? "(none)"), "
                + "expected \(expected.colonHex)"
        case .closedDuringHandshake:
            "the peer closed the connection during the TLS handshake"
        case .truncated:
            "the peer closed the connection without close_notify"
        case .record(let error):
            "the TLS connection broke: \(error)"
        case .unreadReplies:
            "the peer asks for TLS replies and does not read them"
        }
    }

    /// Seconds since the Unix epoch as a date and a time in UTC, such as `2026-11-30T22:04:27Z`.
    package static func date(_ seconds: Int) -> String {
        var time = seconds
        var parts = unsafe tm()
        var text = [CChar](repeating: 0, count: 32)
        // Both write into what they are given, at most its size.
        guard unsafe gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
        let count = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
