import Foundation
import SystemCalls
import Testing

@testable import TLSTransport

@Suite struct CertificateTests {
    private static let now = 1_800_000_000

    @Test func `a certificate is made with a key that only its owner can read`() throws {
        let directory = try TemporaryDirectory()
        let made = try DevelopmentCertificate.load(orMakeIn: directory.path + "/a/b", now: Self.now)
        #expect(made.certificatePath == directory.path + "/a/b/certificate.pem")
        #expect(made.keyPath == directory.path + "/a/b/key.pem")
        let attributes = try FileManager.default.attributesOfItem(atPath: made.keyPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(made.authorityPath == directory.path + "/a/b/ca.pem")
        let ofAuthority = try FileManager.default.attributesOfItem(atPath: directory.path + "/a/b/ca-key.pem")
        #expect(ofAuthority[.posixPermissions] as? Int == 0o600)
        // Only these files are left.
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path + "/a/b").sorted()
                == ["ca-key.pem", "ca.pem", "certificate.pem", "key.pem"])
    }

    @Test func `openssl reads the certificate's names, dates and fingerprint`() throws {
        let directory = try TemporaryDirectory()
        let made = try DevelopmentCertificate.load(
            orMakeIn: directory.path, hostNames: ["party.example"], now: Self.now)
        let text = try run(
            "openssl", "x509", "-in", made.certificatePath, "-noout", "-text", "-fingerprint", "-sha256")
        #expect(text.contains("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:party.example"))
        #expect(
            text.contains("Not Before: Jan 15 07:00:00 2027 GMT")
                && text.contains("Not After : Feb 16 08:00:00 2028 GMT"))
        #expect(text.contains("sha256 Fingerprint=\(made.fingerprint.colonHex)"))
        #expect(text.contains("CA:FALSE") && text.contains("NIST CURVE: P-256"))
        // The name is no private one, and yet the authority is good for it. Its certificate is in the same file.
        #expect(
            try run(
                "openssl", "verify", "-CAfile", made.certificatePath, "-attime", "\(Self.now)", "-x509_strict",
                made.certificatePath
            ).contains("OK"))
    }

    @Test func `the same certificate is returned until a day before it expires`() throws {
        let directory = try TemporaryDirectory()
        let first = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        let key = try String(contentsOfFile: first.keyPath, encoding: .utf8)
        let lastDay = Self.now + DevelopmentCertificate.lifetime - DevelopmentCertificate.renewalMargin
        #expect(try DevelopmentCertificate.load(orMakeIn: directory.path, now: lastDay - 1) == first)
        let renewed = try DevelopmentCertificate.load(orMakeIn: directory.path, now: lastDay + 1)
        #expect(renewed.fingerprint != first.fingerprint)
        // The key stays, and is not affected by a clock that was wrong by years.
        #expect(try String(contentsOfFile: first.keyPath, encoding: .utf8) == key)
        let earlier = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now - 86_400)
        #expect(earlier.fingerprint != renewed.fingerprint)
    }

    @Test func `a name that is missing makes a new certificate, fewer names do not`() throws {
        let directory = try TemporaryDirectory()
        let first = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        let named = try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: ["10.1.2.3"], now: Self.now)
        #expect(named.fingerprint != first.fingerprint)
        #expect(
            try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: ["10.1.2.3"], now: Self.now) == named)
        #expect(
            try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: ["localhost"], now: Self.now) == named)
    }

    @Test func `a certificate that does not belong to the key is replaced`() throws {
        let directory = try TemporaryDirectory()
        let first = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        try FileManager.default.removeItem(atPath: first.keyPath)
        let second = try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        #expect(second.fingerprint != first.fingerprint)
        _ = try TLSContext(serverCertificateChain: second.certificatePath, privateKey: second.keyPath)
    }

    @Test func `somebody else's certificate and key are never overwritten`() throws {
        let directory = try TemporaryDirectory()
        let certificate = try directory.file("certificate.pem", "not ours\n")
        #expect(throws: TLSFault.notDevelopmentCertificate(path: certificate)) {
            try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now)
        }
        #expect(try String(contentsOfFile: certificate, encoding: .utf8) == "not ours\n")
        let other = try TemporaryDirectory()
        let key = try other.file("key.pem", "garbage\n")
        #expect {
            try DevelopmentCertificate.load(orMakeIn: other.path, now: Self.now)
        } throws: { error in
            if case .invalidPrivateKey(key, _)? = error as? TLSFault { true } else { false }
        }
        #expect(try String(contentsOfFile: key, encoding: .utf8) == "garbage\n")
    }

    @Test func `a host name cannot smuggle names in`() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: TLSFault.invalidHostName("a,DNS:b")) {
            try DevelopmentCertificate.load(orMakeIn: directory.path, hostNames: ["a,DNS:b"], now: Self.now)
        }
    }

    @Test func `processes that start together agree on one key`() async throws {
        let directory = try TemporaryDirectory()
        let made = try await withThrowingTaskGroup(of: DevelopmentCertificate.self) { group in
            for _ in 0..<8 {
                group.addTask { try DevelopmentCertificate.load(orMakeIn: directory.path, now: Self.now) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let final = try #require(made.last)
        _ = try TLSContext(serverCertificateChain: final.certificatePath, privateKey: final.keyPath)
    }

    @Test func `a missing file is named`() throws {
        let certificate = try Identity.shared.get().certificate
        #expect(throws: TLSFault.file(path: "/nonexistent/chain.pem", SystemError(code: ENOENT))) {
            try TLSContext(serverCertificateChain: "/nonexistent/chain.pem", privateKey: certificate.keyPath)
        }
        #expect(throws: TLSFault.file(path: "/nonexistent/key.pem", SystemError(code: ENOENT))) {
            try TLSContext(serverCertificateChain: certificate.certificatePath, privateKey: "/nonexistent/key.pem")
        }
        #expect(throws: TLSFault.file(path: "/nonexistent/ca.pem", SystemError(code: ENOENT))) {
            try TLSContext(clientVerifying: .certificateAuthority(path: "/nonexistent/ca.pem"))
        }
        #expect(
            "\(TLSFault.file(path: "/x/key.pem", SystemError(code: ENOENT)))"
                == "cannot use the file /x/key.pem: No such file or directory")
    }

    @Test func `a file that is not PEM is named with OpenSSL's reason`() throws {
        let certificate = try Identity.shared.get().certificate
        let directory = try TemporaryDirectory()
        let text = try directory.file("text.pem", "hello\n")
        let faults = [
            fault { _ = try TLSContext(serverCertificateChain: text, privateKey: certificate.keyPath) },
            fault { _ = try TLSContext(serverCertificateChain: certificate.certificatePath, privateKey: text) },
            fault { _ = try TLSContext(clientVerifying: .certificateAuthority(path: text)) },
        ]
        #expect(
            faults.map { $0.map(String.init(describing:)) } == [
                "\(text) holds no usable PEM certificate chain: no start line",
                "\(text) holds no usable unencrypted PEM private key: unsupported",
                "\(text) holds no usable PEM certificate chain: no certificate or crl found",
            ])
    }

    @Test func `a key of another certificate is told apart`() throws {
        let directory = try TemporaryDirectory()
        let other = try DevelopmentCertificate.load(orMakeIn: directory.path)
        let certificate = try Identity.shared.get().certificate
        #expect(throws: TLSFault.keyMismatch(certificate: certificate.certificatePath, key: other.keyPath)) {
            try TLSContext(serverCertificateChain: certificate.certificatePath, privateKey: other.keyPath)
        }
        let rsa = directory.path + "/rsa.pem"
        _ = try run("openssl", "genrsa", "-out", rsa, "2048")
        #expect(throws: TLSFault.keyMismatch(certificate: certificate.certificatePath, key: rsa)) {
            try TLSContext(serverCertificateChain: certificate.certificatePath, privateKey: rsa)
        }
    }

    @Test func `an encrypted key is refused without asking for its passphrase`() throws {
        let directory = try TemporaryDirectory()
        let certificate = try Identity.shared.get().certificate
        let encrypted = directory.path + "/encrypted.pem"
        _ = try run(
            "openssl", "pkcs8", "-topk8", "-in", certificate.keyPath, "-passout", "pass:secret", "-out", encrypted)
        let fault = fault {
            _ = try TLSContext(serverCertificateChain: certificate.certificatePath, privateKey: encrypted)
        }
        guard case .invalidPrivateKey(encrypted, _)? = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }
}

/// The fault that `body` throws.
private func fault(_ body: () throws -> Void) -> TLSFault? {
    do {
        try body()
        return nil
    } catch {
        return error as? TLSFault
    }
}
