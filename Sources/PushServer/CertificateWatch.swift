package import Logging
import NIOCore
package import RoomService
package import TLSTransport

/// Reads the server's certificate again when it is told to, and warns before it ends.
package struct CertificateWatch: Sendable {
    /// The time before the end from which on it warns, in seconds: a week.
    private static let margin = 7 * 86_400

    private let certificate: ServerCertificate
    private let clock: ServerClock
    private let logger: Logger

    package init(_ certificate: ServerCertificate, clock: ServerClock, logger: Logger) {
        self.certificate = certificate
        self.clock = clock
        self.logger = logger
    }

    /// Warns now and once a day, if there is reason to; until it is cancelled.
    package func run() async {
        repeat {
            look()
            await clock.sleep(for: .seconds(86_400))
        } while !Task.isCancelled
    }

    /// Takes the certificate that is in the files now for the connections that come; if it cannot be used, the one
    /// before stays.
    package func reload() {
        do throws(TLSFault) {
            try certificate.reload()
            logger.notice("The certificate was read again", metadata: ["validSeconds": "\(secondsLeft)"])
            look()
        } catch {
            logger.error(
                "The certificate cannot be used; the one before stays", metadata: ["cause": "\(error.description)"])
        }
    }

    private var secondsLeft: Int { certificate.end - Int(clock.wallMilliseconds / 1_000) }

    private func look() {
        let left = secondsLeft
        guard left < Self.margin else { return }
        if left <= 0 {
            logger.error(
                "The certificate has expired, so that clients refuse it: replace its files and send SIGHUP",
                metadata: ["expiredSecondsAgo": "\(-left)"])
        } else {
            logger.warning(
                "The certificate expires soon: replace its files and send SIGHUP", metadata: ["validSeconds": "\(left)"]
            )
        }
    }
}
