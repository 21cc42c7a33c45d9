internal import LibPQ

/// The server settings of each kind of transaction.
enum DatabaseSettings {
    /// Pages and other short reads.
    static let pages = common.merging(["statement_timeout": "5s"]) { $1 }

    /// Writes, and reads of whole orders.
    static let writes = common.merging(safety) { $1 }.merging([
        // A writer that waits for a shelf holds a connection that others need.
        "lock_timeout": "3s"
    ]) { $1 }

    /// Imports: few, long, and of statements that are worth planning each time.
    static let imports = common.merging(safety) { $1 }.merging([
        "plan_cache_mode": "auto",
        // A re-sort may hold a store for as long.
        "lock_timeout": "10min",
        "statement_timeout": "2h",
    ]) { $1 }

    private static let common = [
        // Compiling a statement costs more than any of ours takes to run.
        "jit": "off",
        // Workers cost more to start than a shelf takes to read.
        "max_parallel_workers_per_gather": "0",
        // Statements are short and run often: to plan each again costs more than any plan saves.
        "plan_cache_mode": "force_generic_plan",
    ]

    /// Settings that end abandoned transactions and release their locks.
    private static let safety = [
        "idle_in_transaction_session_timeout": "15s",
        "client_connection_check_interval": "2s",
        "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
    ]
}

extension PostgresConfiguration {
    /// The same with settings for each transaction.
    func with(_ settings: [String: String]) -> PostgresConfiguration {
        var copy = self
        copy.settings.merge(settings) { $1 }
        return copy
    }
}
