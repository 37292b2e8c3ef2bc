internal import Glibc

/// The authority that signs development certificates: one for each data folder.
///
/// Someone who makes a phone or a browser trust it trusts all later certificates of the folder, whatever addresses the
/// machine gets. It is good for names of private networks only, so that its key is worth little to a thief.
struct DevelopmentAuthority: ~Copyable {
    /// The beginning of the common name that marks an authority made here; digits of its key follow.
    static let commonName = "Backline development authority"

    /// The time for which an authority is valid: five years.
    static let lifetime = 5 * 365 * 86_400

    /// The time before its making from which it is valid, so that a clock that was wrong for a while does not replace
    /// what phones trust: one year.
    static let past = 365 * 86_400

    /// The names and networks that every authority is good for: those that no public authority signs.
    private static let privateNames = [
        "DNS:localhost", "DNS:local", "DNS:lan", "DNS:internal", "DNS:home.arpa",
        "IP:127.0.0.0/255.0.0.0", "IP:10.0.0.0/255.0.0.0", "IP:172.16.0.0/255.240.0.0", "IP:192.168.0.0/255.255.0.0",
        "IP:169.254.0.0/255.255.0.0", "IP:100.64.0.0/255.192.0.0",
        "IP:::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "IP:fc00::/fe00::", "IP:fe80::/ffc0::",
    ]

    /// The PEM file with the certificate.
    let path: String
    let certificate: X509Certificate
    let key: PrivateKey

    /// Returns the authority in `directory`, and makes it if there is none or it expires before `end`.
    ///
    /// The files are `ca.pem` and `ca-key.pem`. Blocks.
    init(orMakeIn directory: String, now: Int, lastingTo end: Int) throws(TLSFault) {
        let path = directory + "/ca.pem"
        let key = try PrivateKey.load(orMakeAt: directory + "/ca-key.pem")
        if let existing = try Self.existing(path), existing.belongs(to: key), existing.isValid(from: now, to: end) {
            self.init(path: path, certificate: existing, key: key)
        } else {
            try self.init(makingAt: path, key: key, permitted: [], now: now)
        }
    }

    /// Makes the certificate anew for the same key, so that it is good for these names as well.
    ///
    /// Phones and browsers that trust the earlier one do not trust this one.
    consuming func permitting(_ names: [String], now: Int) throws(TLSFault) -> DevelopmentAuthority {
        let permitted = names.map { name in
            guard HostName.isAddress(name) else { return "DNS:\(name)" }
            return "IP:\(name)/" + (name.contains(":") ? Self.wholeIPv6 : "255.255.255.255")
        }
        return try DevelopmentAuthority(makingAt: path, key: key, permitted: permitted, now: now)
    }

    private static let wholeIPv6 = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"

    private init(path: String, certificate: consuming X509Certificate, key: consuming PrivateKey) {
        self.path = path
        self.certificate = certificate
        self.key = key
    }

    private init(
        makingAt path: String, key: consuming PrivateKey, permitted: [String], now: Int
    ) throws(TLSFault) {
        // Several processes may make certificates for one key at the same time: with the same name, each fits what the
        // others sign.
        guard let digest = key.publicDigest else { throw .setup(OpenSSLError.takeLast()) }
        let made = try X509Certificate.makeAuthority(
            key: key, commonName: "\(Self.commonName) \(digest.hex.prefix(8).uppercased())",
            permitted: Self.privateNames + permitted, validity: now - Self.past..<now + Self.lifetime)
        guard let pem = made.pem else { throw .setup(OpenSSLError.takeLast()) }
        try Files.write(pem, to: path, mode: 0o644, replacing: true)
        self.init(path: path, certificate: made, key: key)
    }

    /// The certificate that is there; `nil` if there is none.
    private static func existing(_ path: String) throws(TLSFault) -> X509Certificate? {
        guard let pem = try Files.contents(path) else { return nil }
        guard let certificate = X509Certificate(pem: pem), certificate.commonName?.hasPrefix(commonName) == true else {
            throw .notDevelopmentCertificate(path: path)
        }
        return certificate
    }
}
