import CPostgres
import EventStorage
import FoundationEssentials

/// The rows that a statement returned, in PostgreSQL's binary format.
///
/// Reading a value that does not have the expected form throws ``StorageFault/corrupt(_:)``.
///
/// `@unchecked Sendable`: libpq's results are only read after they were made, and may be passed between threads (libpq
/// documentation, "Behavior in Threaded Programs"); the functions that modify a result are not called.
@safe final class PostgresResult: @unchecked Sendable {
    private let result: OpaquePointer

    /// Takes ownership of a result, which is freed with this object.
    @unsafe init(_ result: OpaquePointer) {
        unsafe self.result = result
    }

    deinit {
        unsafe PQclear(result)
    }

    /// The status with which the statement ended.
    var status: ExecStatusType {
        unsafe PQresultStatus(result)
    }

    /// The row numbers.
    var rows: Range<Int> {
        unsafe 0..<Int(PQntuples(result))
    }

    /// The number of rows that were inserted, updated or deleted.
    var affectedRows: Int {
        // The string is the result's own, and copied.
        unsafe Int(String(cString: PQcmdTuples(result))) ?? 0
    }

    // MARK: Errors

    /// The server's description of its error.
    ///
    /// Detail and hint are left out, because they repeat values.
    var cause: StorageFault.Cause {
        let code = errorField("C")
        if let message = errorField("M") {
            return StorageFault.Cause(code: code ?? "", message: message)
        }
        // libpq's own errors have no fields. The string is the result's own, and copied.
        let message = unsafe String(cString: PQresultErrorMessage(result))
        return StorageFault.Cause(message: message.firstLine)
    }

    /// Whether the server ended the connection with this error, or libpq found it lost.
    var endsConnection: Bool {
        switch errorField("V") {
        case "ERROR": false
        case .some, .none: true
        }
    }

    /// A field of the error, named by its letter (PostgreSQL documentation, "Error and Notice Message Fields").
    private func errorField(_ letter: Unicode.Scalar) -> String? {
        // The string is the result's own, and copied.
        unsafe PQresultErrorField(result, Int32(letter.value)).map { unsafe String(cString: $0) }
    }

    // MARK: Values

    /// A `bigint`.
    func int(_ row: Int, _ column: Int) throws(StorageFault) -> Int {
        try present(optionalInt(row, column))
    }

    /// A `bigint` or null.
    func optionalInt(_ row: Int, _ column: Int) throws(StorageFault) -> Int? {
        try load(row, column, as: Int64.self).map { Int(Int64(bigEndian: $0)) }
    }

    /// A `double precision` or null.
    func optionalDouble(_ row: Int, _ column: Int) throws(StorageFault) -> Double? {
        try load(row, column, as: UInt64.self).map { Double(bitPattern: UInt64(bigEndian: $0)) }
    }

    /// A `boolean`.
    func bool(_ row: Int, _ column: Int) throws(StorageFault) -> Bool {
        try present(load(row, column, as: UInt8.self)) != 0
    }

    /// A `uuid`.
    func uuid(_ row: Int, _ column: Int) throws(StorageFault) -> UUID {
        try present(optionalUUID(row, column))
    }

    /// A `uuid` or null.
    func optionalUUID(_ row: Int, _ column: Int) throws(StorageFault) -> UUID? {
        try load(row, column, as: uuid_t.self).map { UUID(uuid: $0) }
    }

    /// The first column, of type `uuid`.
    func uuids() throws(StorageFault) -> [UUID] {
        try rows.map { (row) throws(StorageFault) in try uuid(row, 0) }
    }

    /// A `text`.
    func text(_ row: Int, _ column: Int) throws(StorageFault) -> String {
        try present(optionalText(row, column))
    }

    /// A `text` or null.
    func optionalText(_ row: Int, _ column: Int) -> String? {
        unsafe cell(row, column).map { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// A `bytea`.
    func bytes(_ row: Int, _ column: Int) throws(StorageFault) -> [UInt8] {
        try present(unsafe cell(row, column).map { unsafe [UInt8]($0) })
    }

    /// The text of a `jsonb`.
    func json(_ row: Int, _ column: Int) throws(StorageFault) -> [UInt8] {
        try present(optionalJSON(row, column))
    }

    /// The text of a `jsonb`, or null.
    func optionalJSON(_ row: Int, _ column: Int) throws(StorageFault) -> [UInt8]? {
        guard let bytes = unsafe cell(row, column) else { return nil }
        guard unsafe bytes.first == JSONText.version else { throw Self.corrupt }
        return unsafe [UInt8](bytes.dropFirst())
    }

    /// A value's bytes, which live as long as this object; nil for null, and if there is no such column.
    @unsafe private func cell(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        let (row, column) = (Int32(row), Int32(column))
        // libpq answers null for a row or column that the result does not have.
        guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
        return unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }

    /// Reads a value of a fixed size by copying its bytes.
    private func load<Value: BitwiseCopyable>(
        _ row: Int, _ column: Int, as type: Value.Type
    ) throws(StorageFault) -> Value? {
        guard let bytes = unsafe cell(row, column) else { return nil }
        guard bytes.count == MemoryLayout<Value>.size else { throw Self.corrupt }
        // The size was checked; every caller's type is valid for any bits.
        return unsafe bytes.loadUnaligned(as: type)
    }

    private func present<Value>(_ value: Value?) throws(StorageFault) -> Value {
        guard let value else { throw Self.corrupt }
        return value
    }

    private static let corrupt = StorageFault.corrupt(.init(message: "a value is not of the expected type"))
}

extension String {
    /// The text up to its first line break.
    var firstLine: String {
        String(prefix { !$0.isNewline })
    }
}
