import Foundation
import Testing

@testable import TLSTransport

/// The authority behind development certificates.
@Suite struct DevelopmentAuthorityTests {
    private static let now = 1_800_000_000
    private static let home = ["192.168.1.5", "10.0.0.7", "172.16.3.4", "fd00::5", "party.local"]

    private func verify(_ made: DevelopmentCertificate, _ more: String...) throws -> String {
        try run(
            ["openssl", "verify", "-CAfile", made.authorityPath, "-attime", "\(Self.now)", "-x509_strict"] + more
                + [made.certificatePath])
    }

    @Test func `its certificate signs servers of private names only`() throws {
        let directory = try TemporaryDirectory()
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: Self.home, now: Self.now)
        let text = try run("openssl", "x509", "-in", made.authorityPath, "-noout", "-text", "-fingerprint", "-sha256")
        #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0"))
        #expect(text.contains("X509v3 Key Usage: critical\n                Certificate Sign\n"))
        #expect(text.contains("X509v3 Name Constraints: critical"))
        #expect(text.contains("sha256 Fingerprint=\(made.authorityFingerprint.colonHex)"))
        #expect(text.contains("Subject: CN = Backline development authority "))
        #expect(try verify(made).contains("OK"))
        #expect(try verify(made, "-verify_ip", "192.168.1.5").contains("OK"))
        #expect(try verify(made, "-verify_hostname", "party.local").contains("OK"))
    }

    @Test func `its binary form is the one of its file`() throws {
        let directory = try TemporaryDirectory()
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        let pem = try String(contentsOfFile: made.authorityPath, encoding: .utf8)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        #expect(Data(base64Encoded: lines.joined()).map { [UInt8]($0) } == made.authority)
        #expect(SHA256Digest(hashing: made.authority) == made.authorityFingerprint)
    }

    @Test func `it stays while addresses change and certificates expire`() throws {
        let directory = try TemporaryDirectory()
        let first = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        let moved = try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: Self.home, now: Self.now)
        let renewed = try DevelopmentCertificate.load(
            orMakeIn: directory.path, now: Self.now + DevelopmentCertificate.lifetime)
        let wrongClock = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now - 300 * 86_400)
        #expect(Set([first, moved, renewed, wrongClock].map(\.authorityFingerprint)).count == 1)
        #expect(Set([first, moved, renewed, wrongClock].map(\.fingerprint)).count == 4)
    }

    @Test func `it is replaced in time for the certificates that it signs`() throws {
        let directory = try TemporaryDirectory()
        let first = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        let last = Self.now + DevelopmentAuthority.lifetime - DevelopmentCertificate.lifetime
        let before = try DevelopmentCertificate.load(orMakeIn: directory.path, now: last - 1)
        #expect(before.authorityFingerprint == first.authorityFingerprint)
        let after = try DevelopmentCertificate.load(orMakeIn: directory.path, now: last + 1)
        #expect(after.authorityFingerprint != first.authorityFingerprint)
    }

    @Test func `a public name makes one that is good for it, once`() throws {
        let directory = try TemporaryDirectory()
        let first = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        let names = ["party.example", "203.0.113.9", "2001:db8::9"]
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: names, now: Self.now)
        #expect(made.authorityFingerprint != first.authorityFingerprint)
        #expect(try verify(made).contains("OK"))
        #expect(try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: names, now: Self.now) == made)
        let fewer = try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: Self.home, now: Self.now)
        #expect(fewer.authorityFingerprint == made.authorityFingerprint)
    }

    @Test func `it does not make other servers trusted`() throws {
        let directory = try TemporaryDirectory()
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        let authority = try DevelopmentAuthority(orMakeIn: directory.path, now: Self.now, lastingTo: Self.now)
        let key = try PrivateKey()
        for name in ["bank.example", "8.8.8.8", "2001:db8::1", "localhost.example"] {
            let stranger = try X509Certificate.make(
                for: key, commonName: "stranger", names: [name], validity: Self.now - 1..<Self.now + 1_000,
                signedBy: authority.certificate, with: authority.key)
            let isPermitted = stranger.isPermitted(by: authority.certificate)
            #expect(!isPermitted, "\(name)")
            let path = try directory.file("stranger.pem", String(decoding: stranger.pem ?? [], as: UTF8.self))
            let verified = try run("openssl", "verify", "-CAfile", made.authorityPath, "-attime", "\(Self.now)", path)
            #expect(verified.contains("permitted subtree violation"), "\(name): \(verified)")
        }
    }

    @Test func `a self-signed certificate of an earlier release is replaced, and its key kept`() throws {
        let directory = try TemporaryDirectory()
        let key = directory.path + "/key.pem"
        _ = try run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "300",
            "-subj", "/CN=\(DevelopmentCertificate.commonName)", "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1", "-keyout", key, "-out",
            directory.path + "/certificate.pem")
        let before = try String(contentsOfFile: key, encoding: .utf8)
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        #expect(try verify(made).contains("OK"))
        #expect(try String(contentsOfFile: key, encoding: .utf8) == before)
    }

    @Test func `somebody else's authority is never overwritten`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file("ca.pem", "not ours\n")
        #expect(throws: TLSFault.notDevelopmentCertificate(path: path)) {
            try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "not ours\n")
    }

    @Test func `processes that start together make certificates that any of their authorities signed`() async throws {
        let directory = try TemporaryDirectory()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { _ = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now) }
            }
            try await group.waitForAll()
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        #expect(files == ["ca-key.pem", "ca.pem", "certificate.pem", "key.pem"])
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        #expect(try verify(made).contains("OK"))
    }
}
