internal import Catalog
internal import Collation
package import LibPQ
internal import Schema

/// Checks a database for problems.
package struct Doctor: Sendable {
    package struct Finding: Sendable {
        package enum Verdict: String, Sendable {
            case ok, advice, problem
        }

        package let verdict: Verdict
        package let text: String
        /// The command or SQL that fixes the problem, or follows the advice.
        package let remedy: String?

        package var isOK: Bool { verdict != .problem }

        init(_ isOK: Bool, _ text: String, _ remedy: String? = nil) {
            verdict = isOK ? .ok : .problem
            self.text = text
            self.remedy = isOK ? nil : remedy
        }

        init(advice text: String, _ remedy: String) {
            verdict = .advice
            self.text = text
            self.remedy = remedy
        }
    }

    /// The oldest supported major version of PostgreSQL.
    private static let minimumServerVersion = 15

    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// - Parameters:
    ///   - servers: the number of servers that use the database.
    ///   - connections: the connections of each.
    ///   - shelfMemory: the memory that each uses for shelves, in bytes.
    /// - Throws: `PostgresError` if the database is unreachable.
    package func examine(
        servers: Int = 1,
        with connections: ConnectionCounts = .init(),
        shelfMemory: Int = PostgresCatalog.shelfMemory
    ) async throws -> [Finding] {
        try await pool.perform(within: TimeLimit.shelf.duration) { connection in
            var findings = try Self.server(connection)
            findings += DoctorAdvice.findings(try Self.settings(connection))
            findings += DoctorOperations.findings(try DoctorOperations.serverState(connection))
            let available = try connection.query(DoctorStatements.availableConnections) {
                try $0.first { try $0.int(0) }!
            }
            findings.append(Self.connections(servers, connections, available: available))
            let cluster = try ClusterState.read(connection)
            if let cluster { findings += DoctorCluster.findings(cluster) }
            let state = try Migrator.schemaState(connection)
            // `DoctorCluster` has a finding about a worker.
            if state != .worker { findings.append(Finding(state.isUsable, "schema: \(state)", Self.remedy(of: state))) }
            if state.isUsable {
                findings.append(try Self.sortKeys(connection))
                findings += try Self.indexes(connection)
                // All workers answer these queries, and one that is lost is a finding already.
                if cluster?.hasLostWorkers != true {
                    findings += try DoctorShelves.read(connection).findings(limit: shelfMemory)
                }
                findings += DoctorOperations.findings(try DoctorOperations.runs(connection), now: .now())
            }
            return findings
        }
    }

    private static func remedy(of state: Migrator.SchemaState) -> String {
        switch state {
        case .newer(let version): "install the aisle release that has schema version \(version)"
        case .altered(let version): "run the aisle release that applied migration \(version), or reset the database"
        case .current, .compatible, .empty, .outdated, .worker: "aisle db migrate"
        }
    }

    private static func server(_ connection: isolated PostgresConnection) throws -> [Finding] {
        let (version, encoding, isStandby) = try connection.query(
            DoctorStatements.server
        ) { try $0.first { (try $0.int(0), try $0.text(1), try $0.bool(2)) }! }
        let durable = try connection.query(
            DoctorStatements.isDurable
        ) {
            try $0.first { try $0.bool(0) }!
        }
        return [
            Finding(
                version / 10000 >= minimumServerVersion,
                "PostgreSQL \(version / 10000).\(version % 10000)",
                "install PostgreSQL \(minimumServerVersion) or newer"
            ),
            Finding(encoding == "UTF8", "encoding: \(encoding)", "create the database with ENCODING 'UTF8'"),
            Finding(
                !isStandby,
                isStandby ? "PostgreSQL is a read-only standby" : "PostgreSQL accepts writes",
                "connect to the primary; a standby serves only reads"
            ),
            Finding(
                durable,
                durable
                    ? "committed data survives a crash" : "fsync or full_page_writes is off: a crash can lose data",
                "ALTER SYSTEM SET fsync = on; ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf()"
            ),
        ]
    }

    /// Returns the server's settings that `DoctorAdvice` knows.
    private static func settings(_ connection: isolated PostgresConnection) throws -> [String: DoctorAdvice.Setting] {
        try connection.query(DoctorStatements.settings, [.textArray(DoctorAdvice.names)]) { rows in
            Dictionary(
                uniqueKeysWithValues: try rows.map { row in
                    (try row.text(0), DoctorAdvice.Setting(value: try row.text(1), choices: try row.textArray(2)))
                }
            )
        }
    }

    static func connections(_ servers: Int, _ counts: ConnectionCounts, available: Int) -> Finding {
        let needed = servers * counts.total
        let text =
            "\(servers) \(servers == 1 ? "server needs" : "servers need") up to \(needed) of \(available) connections"
        return Finding(
            needed <= available,
            text,
            "raise max_connections, lower AISLE_POOL_SIZE, AISLE_LONG_READ_CONNECTIONS or AISLE_EVENT_LOOPS, or use a pooler"
        )
    }

    private static func sortKeys(_ connection: isolated PostgresConnection) throws -> Finding {
        let stored = try Recollation.version(connection)
        let isCurrent = stored == LanguageCollator.version
        let text = isCurrent ? "sort keys: collator \(LanguageCollator.version)" : Recollation.warning(stored: stored)
        return Finding(isCurrent, text, Recollation.remedy)
    }

    private static func indexes(_ connection: isolated PostgresConnection) throws -> [Finding] {
        var definitions: [(name: String, sql: String)] = []
        for line in Schema.migrations.flatMap({ $0.up.split(separator: "\n") }) {
            // Apart from options, the third word is the name.
            let words = line.split(whereSeparator: { $0 == " " || $0 == ";" })
                .filter { !["CONCURRENTLY", "IF", "NOT", "EXISTS"].contains($0) }
            if line.hasPrefix("CREATE INDEX ") { definitions.append((name: String(words[2]), sql: String(line))) }
            if line.hasPrefix("DROP INDEX ") { definitions.removeAll { $0.name == words[2] } }
        }
        let wanted = definitions.map(\.name)
        let found = try connection.query(
            DoctorStatements.indexes,
            [.textArray(wanted)]
        ) { try $0.map { (try $0.text(0), try $0.bool(1)) } }
        let missing = wanted.filter { name in !found.contains { $0.0 == name } }
        let invalid = found.filter { !$0.1 }.map(\.0)
        return [
            Finding(
                missing.isEmpty,
                missing.isEmpty
                    ? "all \(wanted.count) indexes exist" : "missing indexes: \(missing.joined(separator: ", "))",
                definitions.filter { missing.contains($0.name) }.map { "psql \"$DATABASE_URL\" -c \"\($0.sql)\"" }
                    .joined(
                        separator: " && "
                    )
            ),
            Finding(
                invalid.isEmpty,
                invalid.isEmpty ? "all indexes are valid" : "invalid indexes: \(invalid.joined(separator: ", "))",
                invalid.map { "psql \"$DATABASE_URL\" -c 'REINDEX INDEX \($0)'" }.joined(separator: " && ")
            ),
        ]
    }
}
