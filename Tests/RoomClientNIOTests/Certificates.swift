import Foundation
import TLSTransport

/// Development certificates in a folder of their own, which is removed with them.
final class Certificates: Sendable {
    /// One that most tests share.
    static let shared = Result { try Certificates() }

    let certificate: DevelopmentCertificate
    let context: TLSContext
    private let directory: String

    /// Makes one that is valid from `days` ago for 397 days.
    init(daysAgo days: Int = 0) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)").path
        certificate = try DevelopmentCertificate.load(orMakeIn: directory, now: time(nil) - days * 86_400)
        context = try TLSContext(
            serverCertificateChain: certificate.certificatePath, privateKey: certificate.keyPath)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
}
