import GRDB

// Statements are prepared once per connection and cached; values are always bound.
extension Database {
    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ values: [(any DatabaseValueConvertible)?]) throws {
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
    }

    /// Returns the first row of a statement's result.
    func first<Value>(
        _ sql: String, _ values: [(any DatabaseValueConvertible)?], _ decode: (Row) throws -> Value
    ) throws -> Value? {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(values))
        return try rows.next().map(decode)
    }

    /// Returns the rows of a statement's result, up to the first one for which `goesOn` is false; later rows are not
    /// read.
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
