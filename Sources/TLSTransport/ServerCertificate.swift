import Synchronization

/// A server's certificate and its key in PEM files, which may be replaced while the server runs.
///
/// Connections that are open keep the certificate with which they began.
package final class ServerCertificate: Sendable {
    /// What tells whether either file was written, replaced or given other rights.
    package struct FilesState: Equatable, Sendable {
        /// Nil: there is no such file.
        fileprivate let chain: FileIdentity?
        fileprivate let key: FileIdentity?
    }

    private struct Current {
        var context: TLSContext
        var filesRead: FilesState
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
        let files = FilesState(chain: FileIdentity(of: chain), key: FileIdentity(of: key))
        current = Mutex(
            Current(context: try TLSContext(serverCertificateChain: chain, privateKey: key), filesRead: files))
    }

    /// The context for the next connection.
    package var context: TLSContext { current.withLock { $0.context } }

    /// The end of the certificate's validity, in seconds since the Unix epoch.
    package var end: Int { context.certificateEnd }

    /// The files as they are now; blocks.
    package var files: FilesState { FilesState(chain: FileIdentity(of: chain), key: FileIdentity(of: key)) }

    /// The files as they were when they were last read, with whatever outcome.
    package var filesRead: FilesState { current.withLock { $0.filesRead } }

    /// Reads both files again; blocks.
    ///
    /// - Throws: ``TLSFault`` naming the file and the reason: the certificate stays as it was.
    package func reload() throws(TLSFault) {
        try reading.withLock { _ throws(TLSFault) in
            let files = files
            current.withLock { $0.filesRead = files }
            let context = try TLSContext(serverCertificateChain: chain, privateKey: key)
            current.withLock { $0.context = context }
        }
    }
}
