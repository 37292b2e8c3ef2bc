internal import Glibc

/// A certificate for a server that was given no other, signed by an authority of its own.
///
/// Nobody trusts it by itself. Clients may pin its fingerprint, and phones and browsers can be told to trust its
/// authority.
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

    /// The PEM file with the certificate, followed by its authority's.
    package let certificatePath: String

    /// The PEM file with the private key, readable by its owner only.
    package let keyPath: String

    /// The SHA-256 of the certificate, which a client can pin; `colonHex` is the form to print.
    package let fingerprint: SHA256Digest

    /// The PEM file with the certificate of the authority, which a client can trust.
    package let authorityPath: String

    /// The authority's certificate in its binary form.
    package let authority: [UInt8]

    /// The SHA-256 of the authority's certificate; `colonHex` is the form to print.
    package let authorityFingerprint: SHA256Digest

    /// Returns the certificate in `directory`, and makes it if there is none or it can no longer be used.
    ///
    /// The files are `certificate.pem` and `key.pem`, and those of the authority `ca.pem` and `ca-key.pem`. A key is
    /// made once and never replaced. A certificate is replaced if it is about to expire, does not belong to its key or
    /// to the authority, or lacks a name, but only if it was made here. The authority's is replaced if it expires
    /// before the certificate, or if it is not good for a name that is not one of a private network. Several processes
    /// may do this at the same time. Blocks.
    ///
    /// - Parameters:
    ///   - directory: made if missing, together with those above it.
    ///   - hostNames: names and addresses to cover besides the local ones.
    ///   - now: seconds since the Unix epoch.
    /// - Returns: the files' paths, and the fingerprints.
    /// - Throws: ``TLSFault`` naming the file that cannot be used.
    package static func load(
        orMakeIn directory: String, hostNames: [String] = [], now: Int = time(nil)
    ) throws(TLSFault) -> Self {
        var names = localNames
        for name in hostNames where !names.contains(name) {
            guard HostName.isAddress(name) || HostName.isValid(name) else { throw .invalidHostName(name) }
            names.append(name)
        }
        let directory = directory.isEmpty ? "." : directory
        try Files.makeDirectory(directory)
        let certificatePath = directory + "/certificate.pem"
        let keyPath = directory + "/key.pem"
        let key = try PrivateKey.load(orMakeAt: keyPath)
        var authority = try DevelopmentAuthority(orMakeIn: directory, now: now, lastingTo: now + lifetime)
        if let fingerprint = try usableCertificate(certificatePath, key, names, authority, now: now) {
            return try Self(certificatePath, keyPath, fingerprint, authority)
        }
        var made = try make(for: key, names, by: authority, now: now)
        if !made.isPermitted(by: authority.certificate) {
            authority = try authority.permitting(names, now: now)
            made = try make(for: key, names, by: authority, now: now)
        }
        guard let pem = made.pem, let ofAuthority = authority.certificate.pem, let fingerprint = made.fingerprint else {
            throw .setup(OpenSSLError.takeLast())
        }
        // With the authority, the file is also one that a client can be given as all it trusts.
        try Files.write(pem + ofAuthority, to: certificatePath, mode: 0o644, replacing: true)
        return try Self(certificatePath, keyPath, fingerprint, authority)
    }

    private init(
        _ certificatePath: String, _ keyPath: String, _ fingerprint: SHA256Digest,
        _ authority: borrowing DevelopmentAuthority
    ) throws(TLSFault) {
        guard let der = authority.certificate.der, let authorityFingerprint = authority.certificate.fingerprint else {
            throw .setup(OpenSSLError.takeLast())
        }
        self.certificatePath = certificatePath
        self.keyPath = keyPath
        self.fingerprint = fingerprint
        authorityPath = authority.path
        self.authority = der
        self.authorityFingerprint = authorityFingerprint
    }

    private static func make(
        for key: borrowing PrivateKey, _ names: [String], by authority: borrowing DevelopmentAuthority, now: Int
    ) throws(TLSFault) -> X509Certificate {
        // Valid from an hour ago, because clients' clocks differ.
        try X509Certificate.make(
            for: key, commonName: commonName, names: names, validity: now - 3_600..<now + lifetime,
            signedBy: authority.certificate, with: authority.key)
    }

    /// Returns the fingerprint of the certificate that is there; `nil` if it has to be made.
    private static func usableCertificate(
        _ path: String, _ key: borrowing PrivateKey, _ names: [String],
        _ authority: borrowing DevelopmentAuthority, now: Int
    ) throws(TLSFault) -> SHA256Digest? {
        guard let pem = try Files.contents(path) else { return nil }
        guard let certificate = X509Certificate(pem: pem), certificate.commonName == commonName else {
            throw .notDevelopmentCertificate(path: path)
        }
        let isUsable =
            certificate.isValid(from: now, to: now + renewalMargin) && certificate.belongs(to: key)
            && certificate.isSigned(by: authority.certificate) && certificate.isPermitted(by: authority.certificate)
            && names.allSatisfy { certificate.covers($0) }
        return isUsable ? certificate.fingerprint : nil
    }
}
