/// An SQL statement with `$1`, `$2`, … for its parameters, prepared once per connection.
struct Statement: Sendable {
    /// Its name on the server, unique among the statements.
    let name: String
    /// Its text, a constant: values are bound, never interpolated.
    let sql: String
    /// Whether it begins a transaction that another statement must end.
    let opensTransaction: Bool

    init(_ name: StaticString, _ sql: StaticString, opensTransaction: Bool = false) {
        self.name = name.description
        self.sql = sql.description
        self.opensTransaction = opensTransaction
    }

    /// Makes a statement that is composed of constants.
    init(name: String, sql: String) {
        self.name = name
        self.sql = sql
        opensTransaction = false
    }

    /// Makes the only statement that is not constant: LISTEN takes no parameters.
    ///
    /// A channel's name cannot end its quotes.
    init(listening channel: NotificationChannel) {
        self.name = "listen \(channel.name)"
        self.sql = "LISTEN \"\(channel.name)\""
        opensTransaction = false
    }
}

/// One execution of a statement.
struct Call: Sendable {
    /// The statement to execute.
    let statement: Statement
    /// The values bound to its parameters.
    let parameters: Parameters

    init<each P: PostgresParameter>(_ statement: Statement, _ parameter: repeat each P) {
        self.statement = statement
        self.parameters = Parameters(repeat each parameter)
    }

    init(_ statement: Statement, with parameters: Parameters) {
        self.statement = statement
        self.parameters = parameters
    }
}

extension Statement {
    static let begin = Statement("begin", "BEGIN ISOLATION LEVEL READ COMMITTED", opensTransaction: true)
    static let beginReading = Statement(
        "begin_reading", "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", opensTransaction: true)
    static let commit = Statement("commit", "COMMIT")
    static let rollback = Statement("rollback", "ROLLBACK")

    /// Applies the settings of this store to a new session.
    ///
    /// Waits for locks end with the statement, not before. Plans are made once per connection, and may be made while a
    /// table is empty: since every statement finds its rows by key, no plan may scan a table that has grown since then,
    /// and rows are looked up and locked in the order in which they are requested. An acknowledged write must be
    /// durable, whatever the database's own default is.
    static let prepareSession = Statement(
        "prepare_session",
        """
        SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', '0', false),
            set_config('default_transaction_isolation', 'read committed', false),
            set_config('default_transaction_deferrable', 'off', false),
            set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false),
            set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
            set_config('jit', 'off', false),
            set_config('synchronous_commit', CASE setting WHEN 'off' THEN 'on' ELSE setting END, false)
        FROM current_setting('synchronous_commit') AS setting
        """)
}
