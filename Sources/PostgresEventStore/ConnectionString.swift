import CPostgres

/// Checks and describes connection strings with libpq's parser.
enum ConnectionString {
    /// Checks a connection string and returns its target: "host:port/database".
    static func target(of connectionString: String) throws(PostgresConfigurationError) -> String {
        let given = try parse(connectionString)
        let defaults = readDefaults()
        func setting(_ keyword: String) -> String? { given[keyword] ?? defaults[keyword] }
        let host = setting("host") ?? setting("hostaddr") ?? "local socket"
        let database = setting("dbname") ?? setting("user") ?? ""
        return "\(host):\(setting("port") ?? "")/\(database)"
    }

    /// Returns the servers of a connection string and the time limit for connecting to one, if there is one.
    ///
    /// No server is returned where libpq has to find it by itself: behind the name of a service in the string, or at its
    /// own default.
    static func servers(
        of connectionString: String
    ) throws(PostgresConfigurationError) -> (hosts: [PostgresHost], timeout: Duration?) {
        let given = try parse(connectionString)
        let defaults = readDefaults()
        func list(_ keyword: String) -> [String] {
            guard let value = given[keyword] ?? defaults[keyword], !value.isEmpty else { return [] }
            return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        // libpq itself takes at least two seconds.
        let timeout = list("connect_timeout").first.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        let limit = timeout.map { Duration.seconds(max(2, $0)) }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count)
        // Lists that do not fit are for libpq to refuse.
        guard count > 0, given["service"] == nil, [0, count].contains(names.count),
            [0, count].contains(addresses.count), [0, 1, count].contains(ports.count)
        else { return ([], limit) }
        let hosts = (0..<count).map { place in
            let address = addresses.isEmpty || addresses[place].isEmpty ? nil : addresses[place]
            let port = ports.isEmpty ? "" : ports[ports.count == 1 ? 0 : place]
            // An empty value would not take the place of a list.
            return PostgresHost(
                host: names.isEmpty ? "" : names[place], address: address, port: port.isEmpty ? "5432" : port)
        }
        // An empty host is libpq's own default.
        return (hosts.contains { $0.host.isEmpty && $0.address == nil } ? [] : hosts, limit)
    }

    private static func parse(_ connectionString: String) throws(PostgresConfigurationError) -> [String: String] {
        guard !connectionString.utf8.contains(0) else {
            throw PostgresConfigurationError(description: "the database URL holds a zero byte")
        }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(connectionString, &message) else {
            let text = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            unsafe PQfreemem(message)
            throw PostgresConfigurationError(description: explain(text))
        }
        return unsafe collect(options)
    }

    private static func readDefaults() -> [String: String] {
        guard let options = unsafe PQconndefaults() else { return [:] }
        return unsafe collect(options)
    }

    /// Returns the options that have a value; frees `options`.
    @unsafe private static func collect(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        defer { unsafe PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = unsafe options
        // An option without a keyword ends the array.
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe values[String(cString: keyword)] = String(cString: value)
            }
            unsafe option += 1
        }
        return values
    }

    /// Returns libpq's message up to the first quotation mark: after it, libpq repeats the input.
    static func explain(_ message: String) -> String {
        let reason = message.prefix { $0 != "\"" && $0 != "\n" }.drop { $0 == " " }
        let summary = "the database URL is neither a postgres:// URL nor keyword=value pairs that libpq understands"
        // libpq says 'missing "=" after …' of any text that is neither.
        guard !reason.isEmpty, !reason.hasPrefix("missing ") else { return summary }
        return "\(summary): \(reason.trimmingSuffix(while: { " :".contains($0) }))…"
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
        var end = endIndex
        while end > startIndex, isTrimmed(self[index(before: end)]) {
            end = index(before: end)
        }
        return self[..<end]
    }
}
