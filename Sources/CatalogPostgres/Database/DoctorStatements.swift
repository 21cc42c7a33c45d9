internal import LibPQ

/// The statements of `Doctor`.
enum DoctorStatements {
    /// The version, the encoding, and whether the server is a standby.
    static let server: PostgresStatement = """
        SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding'), pg_is_in_recovery()
        """
    /// Whether committed data survives a server crash.
    static let isDurable: PostgresStatement = """
        SELECT current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'
        """
    /// The values of settings, `$1`, and the permitted ones of enumerations.
    static let settings: PostgresStatement = """
        SELECT name, setting, coalesce(enumvals, '{}') FROM pg_settings WHERE name = ANY ($1)
        """
    /// Whether the write-ahead log is archived, whether the last attempt failed, and the age of the oldest transaction id.
    static let operation: PostgresStatement = """
        SELECT current_setting('archive_mode') <> 'off' OR EXISTS (
                SELECT FROM pg_replication_slots WHERE slot_type = 'physical'),
            coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false),
            (SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database())
        FROM pg_stat_archiver a
        """
    /// The inactive replication slots that keep more than a gigabyte of the write-ahead log.
    static let idleSlots: PostgresStatement = """
        SELECT slot_name FROM pg_replication_slots WHERE NOT active AND restart_lsn IS NOT NULL
            AND pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END,
                restart_lsn) > 1073741824
        ORDER BY slot_name
        """
    /// The number of shelves that servers used in the last day, and of the products on them.
    static let shelvesInUse: PostgresStatement = """
        SELECT count(*), coalesce(sum(h.product_count), 0)::bigint FROM shelf_image i
        JOIN shelf h ON h.store_id = i.store_id AND h.shelf_id = i.shelf_id WHERE i.used_at > now() - interval '1 day'
        """
    /// The age of the oldest recorded change of a shelf, in hours; 0 without changes.
    static let oldestChange: PostgresStatement = """
        SELECT coalesce((\(SQL.microseconds) - min(version)) / 3600000000, 0)::bigint FROM shelf_change
        """
    /// The connections that are not reserved for superusers.
    static let availableConnections: PostgresStatement = """
        SELECT current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
        """
    /// Whether the server is a standby, its cluster, and the position up to which it has replayed the log.
    static let replica: PostgresStatement = """
        SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system()),
            \(LogPositionStatements.offset("pg_last_wal_replay_lsn()"))
        """
    /// The given indexes, `$1`, that exist, and whether each is valid.
    static let indexes: PostgresStatement = """
        SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relname = ANY ($1) AND pg_table_is_visible(c.oid)
        """
}
