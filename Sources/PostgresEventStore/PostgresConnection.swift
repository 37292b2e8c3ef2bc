import CPostgres
import EventStorage

/// One libpq connection, non-blocking throughout.
///
/// It belongs to one thread at a time. Where it is given no address, libpq looks names up within ``advance()``, so that
/// a slow name server delays everything else on the calling thread.
@safe struct PostgresConnection: ~Copyable {
    /// The condition that connecting waits for.
    enum Progress {
        /// The socket to be readable.
        case reading
        /// The socket to be writable.
        case writing
        /// Nothing: it is connected.
        case connected
        /// Nothing: it failed.
        case failed(StorageFault.Cause)
    }

    /// The result of an attempt to write.
    enum Flush {
        /// Everything was handed to the kernel.
        case done
        /// Bytes wait for the socket to be writable.
        case pending
        /// The connection is lost.
        case failed
    }

    /// The next answer of a connection, read without waiting.
    enum Answer {
        /// Nothing yet.
        case nothing
        /// A statement's answers have ended.
        case endOfStatement
        /// An answer.
        case result(PostgresResult)
    }

    private let connection: OpaquePointer

    /// Begins to connect; nil if there is no memory for it.
    ///
    /// Keywords in the connection string override the ones set here, except the encoding and the server, if there is one.
    /// With `writes`, it ends at a server that takes no writes.
    init?(connectionString: String, server: PostgresHost? = nil, writes: Bool = false) {
        var settings: [(keyword: String, value: String)] = [
            ("fallback_application_name", "backline"),
            // Detects within a minute that a peer has vanished, on an idle connection too.
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
        ]
        if writes { settings.append(("target_session_attrs", "read-write")) }
        settings += [("dbname", connectionString), ("client_encoding", "UTF8")]
        if let server {
            settings += [("host", server.host), ("hostaddr", server.address ?? ""), ("port", server.port)]
        }
        // libpq copies the strings before it returns.
        let connection = unsafe withCStrings(settings.map(\.keyword)) { keywords in
            unsafe withCStrings(settings.map(\.value)) { values in unsafe PQconnectStartParams(keywords, values, 1) }
        }
        guard let connection = unsafe connection else { return nil }
        unsafe self.connection = connection
        // Notices would go to standard error.
        _ = unsafe PQsetNoticeReceiver(connection, { _, _ in }, nil)
        // While connecting, libpq reports the SQLSTATE only in its message text.
        _ = unsafe PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
    }

    deinit {
        unsafe PQfinish(connection)
    }

    /// The socket, which may change with each ``advance()``; -1 if there is none.
    var descriptor: Int32 {
        unsafe PQsocket(connection)
    }

    /// Whether the connection is lost.
    var isLost: Bool {
        unsafe PQstatus(connection) == CONNECTION_BAD
    }

    /// Whether a transaction was left open.
    var isInTransaction: Bool {
        unsafe PQtransactionStatus(connection) != PQTRANS_IDLE
    }

    /// The reason why connecting failed, or the connection was lost; without a password.
    var cause: StorageFault.Cause {
        // The string is the connection's own, and copied.
        unsafe ConnectionMessage.cause(in: String(cString: PQerrorMessage(connection)))
    }

    // MARK: Connecting

    /// Continues connecting; call it first when the socket is writable, then as the last progress requires.
    func advance() -> Progress {
        switch unsafe PQconnectPoll(connection) {
        case PGRES_POLLING_READING: return .reading
        case PGRES_POLLING_WRITING: return .writing
        case PGRES_POLLING_OK:
            guard unsafe PQsetnonblocking(connection, 1) == 0, unsafe PQenterPipelineMode(connection) == 1 else {
                return .failed(cause)
            }
            return .connected
        default: return .failed(cause)
        }
    }

    // MARK: Sending

    /// Queues the preparation of a statement.
    func sendPreparation(_ call: Call) -> Bool {
        let types = call.parameters.values.map(\.type)
        // libpq copies its arguments into its output buffer before it returns.
        return unsafe types.withUnsafeBufferPointer { types in
            unsafe PQsendPrepare(
                connection, call.statement.name, call.statement.sql, Int32(types.count), types.baseAddress) == 1
        }
    }

    /// Queues an execution of a statement that is prepared, or whose preparation is queued.
    func sendExecution(_ call: Call) -> Bool {
        let values = call.parameters.values
        let lengths = values.map { Int32(clamping: $0.range?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: values.count)
        // libpq copies its arguments into its output buffer before it returns.
        return unsafe call.parameters.bytes.withUnsafeBytes { bytes in
            let pointers = unsafe values.map { value in
                unsafe value.range.flatMap { range in
                    unsafe bytes.baseAddress.map { unsafe ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self) }
                }
            }
            return unsafe PQsendQueryPrepared(
                connection, call.statement.name, Int32(values.count), pointers, lengths, formats, 1) == 1
        }
    }

    /// Queues the end of a request; an error skips everything up to it.
    func sendSync() -> Bool {
        unsafe PQpipelineSync(connection) == 1
    }

    /// Leaves pipeline mode and queues a text of several statements; only while nothing else is under way.
    func sendScript(_ sql: String) -> Bool {
        unsafe PQexitPipelineMode(connection) == 1 && PQsendQuery(connection, sql) == 1
    }

    /// Returns to pipeline mode after the last answer of a script.
    func endScript() -> Bool {
        unsafe PQenterPipelineMode(connection) == 1
    }

    /// Writes the queued bytes as far as the socket accepts them.
    func flush() -> Flush {
        switch unsafe PQflush(connection) {
        case 0: .done
        case 1: .pending
        default: .failed
        }
    }

    // MARK: Receiving

    /// Reads the bytes that the socket has; false if the connection is lost.
    func receive() -> Bool {
        unsafe PQconsumeInput(connection) == 1
    }

    /// Returns the next answer, without waiting.
    func takeAnswer() -> Answer {
        guard unsafe PQisBusy(connection) == 0 else { return .nothing }
        guard let result = unsafe PQgetResult(connection) else { return .endOfStatement }
        return unsafe .result(PostgresResult(result))
    }

    /// Returns the next received notification: its payload, and the number of the process that sent it.
    func takeNotification() -> (payload: [UInt8], sender: Int32)? {
        guard let notification = unsafe PQnotifies(connection) else { return nil }
        defer { unsafe PQfreemem(notification) }
        // The string is the notification's own, and copied.
        let payload = unsafe notification.pointee.extra.map { unsafe Array(String(cString: $0).utf8) }
        return unsafe (payload ?? [], notification.pointee.be_pid)
    }
}

/// Parses libpq's messages without fields: those of failed attempts to connect.
enum ConnectionMessage {
    /// Beginnings of what libpq says of settings, before it connects.
    private static let refusedSettings = [
        "invalid ", "definition of service ", "could not match ", "sslmode value ", "weak sslmode ",
    ]
    /// Parts of what it says, behind the server's address, of settings that do not fit the server.
    private static let unfitSettings = [
        "invalid integer value ", "server does not support SSL", "root certificate file ", "certificate verify failed",
        "server certificate for ", "could not load private key file ", "could not read certificate file ",
        "no password supplied",
    ]

    /// Returns the SQLSTATE, if the message has one, and the first line without it.
    ///
    /// What libpq itself says of settings, for which it has no code, gets that of an invalid value.
    ///
    /// In verbose form a server's error reads "…: FATAL:  28P01: password authentication failed …", the severity in the
    /// server's language.
    static func cause(in message: String) -> StorageFault.Cause {
        let line = message.firstLine
        let parts = line.split(separator: ": ", omittingEmptySubsequences: false)
        guard
            let index = parts.indices.dropFirst().first(where: { index in
                let code = parts[index].drop { $0 == " " }
                return parts[index].hasPrefix(" ") && code.utf8.count == 5
                    && code.utf8.allSatisfy {
                        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    }
            })
        else {
            let refuses =
                refusedSettings.contains(where: line.hasPrefix) || unfitSettings.contains(where: line.contains)
            return StorageFault.Cause(code: refuses ? "22023" : "", message: line)
        }
        let code = String(parts[index].drop { $0 == " " })
        let text = (parts[..<index] + parts[(index + 1)...]).joined(separator: ": ")
        return StorageFault.Cause(code: code, message: text)
    }
}

/// Runs `body` with a null-terminated array of C strings, which live as long as the call.
@unsafe private func withCStrings<Result>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    var offsets: [Int] = []
    var bytes: [UInt8] = []
    for string in strings {
        offsets.append(bytes.count)
        bytes += Array(string.utf8) + [0]
    }
    return unsafe bytes.withUnsafeBytes { bytes in
        let pointers = unsafe offsets.map { offset in
            unsafe bytes.baseAddress.map { unsafe ($0 + offset).assumingMemoryBound(to: CChar.self) }
        }
        return unsafe body(pointers + [nil])
    }
}
