import Synchronization

/// A server's certificate and its key in PEM files, which may be replaced while the server runs.
///
/// Connections that are open keep the certificate with which they began.
package final class ServerCertificate: Sendable {
    /// Identifies one version of both files.
    package struct Version: Equatable, Sendable {
        /// Nil: it cannot be found.
        private let chain: FileVersion?
        private let key: FileVersion?

        fileprivate init(chain: String, key: String) {
            (self.chain, self.key) = (FileVersion(of: chain), FileVersion(of: key))
        }
    }

    private struct Current {
        var context: TLSContext
        var judged: Version?
        var refusal: TLSFault?
    }

    private let chain: String
    private let key: String
    private let current: Mutex<Current>
    /// Held while the files are read, so that what was read last is what is used.
    private let reading = Mutex(())

    /// Reads both files; blocks.
    ///
    /// `chain` holds the certificate first and then its intermediates, `key` the unencrypted key.
    ///
    /// - Throws: ``TLSFault`` naming the file and the reason.
    package init(chain: String, key: String) throws(TLSFault) {
        self.chain = chain
        self.key = key
        // Before they are read: what is written meanwhile is a change.
        let version = Version(chain: chain, key: key)
        let context = try TLSContext(serverCertificateChain: chain, privateKey: key)
        current = Mutex(Current(context: context, judged: version))
    }

    /// The context for the next connection.
    package var context: TLSContext { current.withLock { $0.context } }

    /// The time in which the certificate is valid, in seconds since the Unix epoch.
    package var validity: Range<Int> { context.certificateValidity }

    /// The SHA-256 of the certificate; nil only when memory is short.
    package var fingerprint: SHA256Digest? { context.certificateFingerprint }

    /// The files as they are now; blocks.
    package var version: Version { Version(chain: chain, key: key) }

    /// The files that the last reading has accepted, or refused for what is in them.
    ///
    /// Nil after one that failed for another reason, which may pass.
    package var judged: Version? { current.withLock { $0.judged } }

    /// Why the files as they were last read are not used; nil if they are.
    package var refusal: TLSFault? { current.withLock { $0.refusal } }

    /// Reads both files again, unless that is under way; blocks.
    ///
    /// - Parameter now: seconds since the Unix epoch. A certificate that is not valid then takes the place only of one
    ///   that is not valid either.
    /// - Throws: ``TLSFault`` naming the file and the reason: the certificate stays as it was.
    package func reload(now: Int) throws(TLSFault) {
        let outcome: Result<Void, TLSFault>? = reading.withLockIfAvailable { _ in
            let version = version
            do throws(TLSFault) {
                let context = try TLSContext(serverCertificateChain: chain, privateKey: key)
                let validity = context.certificateValidity
                guard validity.contains(now) || !self.validity.contains(now) else {
                    throw .certificateNotValidNow(path: chain, from: validity.lowerBound, to: validity.upperBound)
                }
                current.withLock { $0 = Current(context: context, judged: version) }
                return .success(())
            } catch {
                current.withLock { current in
                    current.judged = error.mayPass ? nil : version
                    current.refusal = error
                }
                return .failure(error)
            }
        }
        try outcome?.get()
    }
}

extension TLSFault {
    /// Whether the same files may be usable a moment later.
    fileprivate var mayPass: Bool {
        switch self {
        case .file, .setup, .certificateNotValidNow:
            true
        case .notRegularFile, .invalidCertificate, .invalidPrivateKey, .keyMismatch, .notDevelopmentCertificate,
            .invalidHostName, .handshake, .certificateRejected, .fingerprintMismatch, .closedDuringHandshake,
            .truncated, .record, .unreadReplies:
            false
        }
    }
}
