import GRDB

// Statements are prepared once a connection and kept; values are always bound.
extension Database {
    /// Runs a statement that gives no rows.
    func run(_ sql: String, _ values: [(any DatabaseValueConvertible)?]) throws {
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
    }

    /// The first row that a statement gives.
    func first<Value>(
        _ sql: String, _ values: [(any DatabaseValueConvertible)?], _ decode: (Row) throws -> Value
    ) throws -> Value? {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(values))
        return try rows.next().map(decode)
    }

    /// Every row that a statement gives, up to the one with which `goesOn` is false: later ones are not read.
    func all<Value>(
        _ sql: String, _ values: [(any DatabaseValueConvertible)?], _ decode: (Row) throws -> Value,
        while goesOn: (Value) -> Bool = { _ in true }
    ) throws -> [Value] {
        var decoded: [Value] = []
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(values))
        while let row = try rows.next() {
            let value = try decode(row)
            decoded.append(value)
            guard goesOn(value) else { break }
        }
        return decoded
    }
}
