internal import Glibc

/// A self-signed certificate for a server that was given no other.
///
/// It is good for one's own machine and for clients that pin the fingerprint; no browser trusts it by itself.
package struct DevelopmentCertificate: Hashable, Sendable {
    /// The common name that marks a certificate made here.
    package static let commonName = "Backline development certificate"

    /// The names that every such certificate covers.
    package static let localNames = ["localhost", "127.0.0.1", "::1"]

    /// The time for which a certificate is valid: 397 days, the most that browsers accept of any certificate.
    package static let lifetime = 397 * 86_400

    /// The time before its expiry at which a certificate is replaced: one day, so that a newly started server has one
    /// that stays valid for a while.
    package static let renewalMargin = 86_400

    /// The PEM file with the certificate.
    package let certificatePath: String

    /// The PEM file with the private key, readable by its owner only.
    package let keyPath: String

    /// The SHA-256 of the certificate, which a client can pin; `colonHex` is the form to print.
    package let fingerprint: SHA256Digest

    /// Returns the certificate in `directory`, and makes it if there is none or it can no longer be used.
    ///
    /// The files are `certificate.pem` and `key.pem`. A key is made once and never replaced. A certificate is replaced
    /// if it is about to expire, does not belong to the key, or lacks a name, but only if it was made here. Several
    /// processes may do this at the same time. Blocks.
    ///
    /// - Parameters:
    ///   - directory: made if missing, together with those above it.
    ///   - hostName: a name or address to cover besides the local ones.
    ///   - now: seconds since the Unix epoch.
    /// - Returns: the files' paths, and the fingerprint.
    /// - Throws: ``TLSFault`` naming the file that cannot be used.
    package static func load(
        orMakeIn directory: String, hostName: String? = nil, now: Int = time(nil)
    ) throws(TLSFault) -> Self {
        var names = localNames
        if let hostName, !names.contains(hostName) {
            guard HostName.isAddress(hostName) || HostName.isValid(hostName) else { throw .invalidHostName(hostName) }
            names.append(hostName)
        }
        let directory = directory.isEmpty ? "." : directory
        try Files.makeDirectory(directory)
        let certificatePath = directory + "/certificate.pem"
        let keyPath = directory + "/key.pem"
        let key = try loadOrMakeKey(keyPath)
        if let existing = try usableCertificate(certificatePath, key, names, now: now) {
            return Self(certificatePath: certificatePath, keyPath: keyPath, fingerprint: existing)
        }
        // Valid from an hour ago, because clients' clocks differ.
        let made = try X509Certificate.make(
            selfSignedBy: key, commonName: commonName, names: names, validity: now - 3_600..<now + lifetime)
        guard let pem = made.pem, let fingerprint = made.fingerprint else { throw .setup(OpenSSLError.takeLast()) }
        try Files.write(pem, to: certificatePath, mode: 0o644, replacing: true)
        return Self(certificatePath: certificatePath, keyPath: keyPath, fingerprint: fingerprint)
    }

    private static func loadOrMakeKey(_ path: String) throws(TLSFault) -> PrivateKey {
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

    /// Returns the fingerprint of the certificate that is there; `nil` if it has to be made.
    private static func usableCertificate(
        _ path: String, _ key: borrowing PrivateKey, _ names: [String], now: Int
    ) throws(TLSFault) -> SHA256Digest? {
        guard let pem = try Files.contents(path) else { return nil }
        guard let certificate = X509Certificate(pem: pem), certificate.commonName == commonName else {
            throw .notDevelopmentCertificate(path: path)
        }
        let isUsable =
            certificate.isValid(from: now, to: now + renewalMargin) && certificate.belongs(to: key)
            && names.allSatisfy { certificate.covers($0) }
        return isUsable ? certificate.fingerprint : nil
    }
}
