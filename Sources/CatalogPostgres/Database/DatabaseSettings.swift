internal import LibPQ

/// The server settings of each kind of transaction.
enum DatabaseSettings {
    /// Pages and other short reads.
    static let pages = common.merging(byKey) { $1 }.merging(["statement_timeout": "5s"]) { $1 }

    /// Reads that may take long: whole shelves, exports.
    static let longReads = common.merging(safety) { $1 }.merging(byKey) { $1 }.merging(["statement_timeout": "30s"]) {
        $1
    }

    /// Settings of batch work.
    static let batch = common.merging(safety) { $1 }.merging([
        // A writer that waits for a shelf lock occupies a connection.
        "lock_timeout": "3s"
    ]) { $1 }

    /// Settings of writes.
    static let writes = batch.merging(byKey) { $1 }

    /// Settings of imports: few, long transactions whose statements are worth planning each time.
    static let imports = common.merging(safety) { $1 }.merging([
        "plan_cache_mode": "auto",
        // A re-sort may lock a store for that long.
        "lock_timeout": "10min",
        "statement_timeout": "2h",
    ]) { $1 }

    /// Settings on Citus.
    static let citus = ExtensionSettings(
        marker: "citus.shard_count",
        settings: [
            // A generic plan of a join has no shard, so that it fails or asks all of them.
            "plan_cache_mode": "force_custom_plan",
            // SET LOCAL applies to the workers, too.
            "citus.propagate_set_commands": "local",
            // The foreign keys to the reference table `store` forbid parallel changes of several shards in a transaction.
            "citus.multi_shard_modify_mode": "sequential",
        ]
    )

    private static let common = [
        // JIT compilation takes longer than running any of our statements.
        "jit": "off",
        // Starting workers takes longer than reading a shelf.
        "max_parallel_workers_per_gather": "0",
        // Statements are short and frequent: replanning costs more than a custom plan saves.
        "plan_cache_mode": "force_generic_plan",
    ]

    /// Settings of statements that look up rows by their keys, or read one shelf. Some rows of a small table cost less by index than a
    /// scan. A table that was empty when a statement was planned would be scanned until the table has statistics.
    private static let byKey = ["enable_seqscan": "off"]

    /// Settings that end abandoned transactions and release their locks.
    private static let safety = [
        "idle_in_transaction_session_timeout": "15s",
        "client_connection_check_interval": "2s",
        "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
    ]
}

extension PostgresConfiguration {
    /// Returns the configuration with additional transaction settings.
    func with(_ settings: [String: String]) -> PostgresConfiguration {
        var copy = self
        copy.settings.merge(settings) { $1 }
        copy.extensionSettings = DatabaseSettings.citus
        return copy
    }

    /// Returns the configuration with names for statements.
    func naming(_ names: StatementNames) -> PostgresConfiguration {
        var copy = self
        copy.statementNames = names
        return copy
    }
}
