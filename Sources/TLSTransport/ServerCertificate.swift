import Synchronization

/// A server's certificate and its key in PEM files, which may be replaced while the server runs.
///
/// Connections that are open keep the certificate with which they began.
package final class ServerCertificate: Sendable {
    private let chain: String
    private let key: String
    private let current: Mutex<TLSContext>

    /// Reads both files; blocks.
    ///
    /// `chain` holds the certificate first and then its intermediates, `key` the unencrypted key.
    ///
    /// - Throws: ``TLSFault`` naming the file and the reason.
    package init(chain: String, key: String) throws(TLSFault) {
        self.chain = chain
        self.key = key
        current = Mutex(try TLSContext(serverCertificateChain: chain, privateKey: key))
    }

    /// The context for the next connection.
    package var context: TLSContext { current.withLock { $0 } }

    /// The end of the certificate's validity, in seconds since the Unix epoch.
    package var end: Int { context.certificateEnd }

    /// Reads both files again; blocks.
    ///
    /// - Throws: ``TLSFault`` naming the file and the reason: the certificate stays as it was.
    package func reload() throws(TLSFault) {
        let context = try TLSContext(serverCertificateChain: chain, privateKey: key)
        current.withLock { $0 = context }
    }
}
