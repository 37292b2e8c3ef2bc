package import Logging
import NIOCore
package import RoomService
package import TLSTransport

/// Takes the server's certificate anew when its files have changed or it is told to, and warns before it ends.
package struct CertificateWatch: Sendable {
    /// The time before the end from which on it warns, in seconds: a week.
    private static let margin = 7 * 86_400
    /// Looks at the files are so far apart, and warnings this number of looks.
    private static let interval = TimeAmount.seconds(10)
    private static let looks = 8_640

    private let certificate: ServerCertificate
    private let clock: ServerClock
    private let logger: Logger

    package init(_ certificate: ServerCertificate, clock: ServerClock, logger: Logger) {
        self.certificate = certificate
        self.clock = clock
        self.logger = logger
    }

    /// Warns now and once a day, if there is reason to, and looks at the files every ten seconds; until it is cancelled.
    ///
    /// Files that have changed are read once they are the same in two looks: whoever replaces both, or writes into them,
    /// does so within that time. Where not, the pair that does not fit is refused, and the next change is taken.
    package func run() async {
        var seen = certificate.files
        var untilWarning = 0
        while true {
            if untilWarning == 0 {
                warn()
                untilWarning = Self.looks
            }
            untilWarning -= 1
            await clock.sleep(for: Self.interval)
            if Task.isCancelled { return }
            let found = certificate.files
            if found == seen, found != certificate.filesRead { reload() }
            seen = found
        }
    }

    /// Takes the certificate that is in the files now for the connections that come; if it cannot be used, the one
    /// before stays.
    package func reload() {
        do throws(TLSFault) {
            try certificate.reload()
            logger.notice("The certificate was read again", metadata: ["validSeconds": "\(secondsLeft)"])
            warn()
        } catch {
            logger.error(
                "The certificate cannot be used; the one before stays", metadata: ["cause": "\(error.description)"])
        }
    }

    private var secondsLeft: Int { certificate.end - Int(clock.wallMilliseconds / 1_000) }

    private func warn() {
        let left = secondsLeft
        guard left < Self.margin else { return }
        if left <= 0 {
            logger.error(
                "The certificate has expired, so that clients refuse it: replace its files",
                metadata: ["expiredSecondsAgo": "\(-left)"])
        } else {
            logger.warning(
                "The certificate expires soon: replace its files", metadata: ["validSeconds": "\(left)"])
        }
    }
}
