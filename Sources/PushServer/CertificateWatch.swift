package import Logging
import NIOCore
package import RoomService
package import TLSTransport

/// Takes the server's certificate anew when its files have changed or it is told to, and warns before it ends.
package struct CertificateWatch: Sendable {
    /// The time before the end from which on it warns, in seconds: a week.
    private static let margin = 7 * 86_400
    /// The time between two looks at the files.
    private static let interval = TimeAmount.seconds(10)
    /// The number of looks between two warnings: a day.
    private static let looksBetweenWarnings = 8_640
    /// The number of looks after which files are read that change all the time.
    private static let mostChanges = 6

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
    /// Files that have changed are read once two looks have found them the same, because both are seldom replaced at one
    /// moment, or a minute later. Files that cannot be found or opened are tried again at each look.
    package func run() async {
        var seen = certificate.version
        var untilWarning = 0, changes = 0
        while true {
            if untilWarning == 0 {
                warn()
                untilWarning = Self.looksBetweenWarnings
            }
            untilWarning -= 1
            await clock.sleep(for: Self.interval)
            if Task.isCancelled { return }
            let found = certificate.version
            changes = found == seen ? 0 : changes + 1
            seen = found
            guard found != certificate.judged, changes == 0 || changes >= Self.mostChanges else { continue }
            read(isAskedFor: false)
        }
    }

    /// Takes the certificate that is in the files now for the connections that come; if it cannot be used, the one
    /// before stays.
    package func reload() {
        read(isAskedFor: true)
    }

    private func read(isAskedFor: Bool) {
        let (refusal, fingerprint) = (certificate.refusal, certificate.fingerprint)
        do throws(TLSFault) {
            try certificate.reload(now: now)
            let isNew = certificate.fingerprint != fingerprint
            let isWorthALine = isAskedFor || isNew || refusal != nil
            logger.log(
                level: isWorthALine ? .notice : .debug,
                isNew ? "The certificate was read again: a new one" : "The certificate was read again: the same one",
                metadata: metadata)
            if isWorthALine { warn() }
        } catch {
            guard isAskedFor || error != refusal else { return }
            logger.error(
                "The certificate cannot be used; the one before stays", metadata: ["cause": "\(error.description)"])
        }
    }

    private var now: Int { Int(clock.wallMilliseconds / 1_000) }

    /// What tells the certificate in use from others.
    private var metadata: Logger.Metadata {
        let end = certificate.validity.upperBound
        return [
            "ends": "\(TLSFault.date(end))", "validSeconds": "\(end - now)",
            "sha256": "\(certificate.fingerprint?.colonHex ?? "unknown")",
        ]
    }

    private func warn() {
        let (validity, now) = (certificate.validity, now)
        if let refusal = certificate.refusal {
            logger.error(
                "The files of the certificate cannot be used: an older one is in use",
                metadata: metadata.merging(["cause": "\(refusal.description)"]) { $1 })
        } else if now >= validity.upperBound {
            logger.error(
                "The certificate has expired, so that clients refuse it: renew it",
                metadata: metadata)
        } else if now < validity.lowerBound {
            logger.error(
                "The certificate is not valid yet, so that clients refuse it",
                metadata: metadata.merging(["begins": "\(TLSFault.date(validity.lowerBound))"]) { $1 })
        } else if now > validity.upperBound - Self.margin {
            logger.warning("The certificate expires soon: renew it", metadata: metadata)
        }
    }
}
