internal import ArgumentParser
internal import CatalogPostgres
internal import LibPQ
internal import LocalPostgres
internal import Schema

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "db",
        abstract: "Manage the private PostgreSQL and the schema.",
        subcommands: [
            Initialize.self, Start.self, Stop.self, Status.self, Migrate.self, Recollate.self, Roles.self,
            Restored.self,
            Reset.self,
        ]
    )

    struct Initialize: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Create, start and migrate the private PostgreSQL."
        )
        func execute() async throws {
            let cluster = try PrivateCluster(folder: DatabaseOptions.privateFolder)
            try cluster.start()
            try await ensureDatabase(cluster)
            try await migrate(
                PostgresPool(cluster.configuration()),
                to: Schema.currentVersion,
                isDryRun: false
            )
        }
    }

    struct Start: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start the private PostgreSQL and print its connection string."
        )
        func execute() async throws {
            let cluster = try PrivateCluster(folder: DatabaseOptions.privateFolder)
            try cluster.start()
            try await ensureDatabase(cluster)
            Console.line(cluster.dsn)
        }
    }

    struct Stop: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Stop the private PostgreSQL.")
        func execute() async throws { try PrivateCluster(folder: DatabaseOptions.privateFolder).stop() }
    }

    struct Status: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the database in use and the state of its schema."
        )
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            Console.note("database: \(database.source.title)")
            let (state, cluster) = try await database.withPool(size: 1) { pool in
                (try await Migrator.check(pool), try await pool.perform { try ClusterState.read($0) })
            }
            Console.line("schema: \(state)")
            if let cluster { Self.show(cluster) }
        }

        private static func show(_ cluster: ClusterState) {
            Console.line("cluster: Citus \(cluster.version)\(cluster.isCoordinator ? "" : ", seen from a worker")")
            var table = Table(columns: [
                .init(title: "server"), .init(title: "role"), .init(title: "shards", isNumber: true),
                .init(title: "state"),
            ])
            table.rows = cluster.nodes.map { node in
                let state =
                    if !node.isActive {
                        "disabled"
                    } else if cluster.unreachableNodes.contains(node.name) {
                        "unreachable"
                    } else if node.lostShards > 0 {
                        "\(node.lostShards) shards cannot be used"
                    } else {
                        "active"
                    }
                return [node.name, node.isCoordinator ? "coordinator" : "worker", String(node.shards), state]
            }
            table.print(.table)
            for connection in cluster.brokenConnections { Console.line("no connection: \(connection)") }
        }
    }

    struct Migrate: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Migrate the schema to the program's version.")
        @OptionGroup var database: DatabaseOptions
        @Option(parsing: .unconditional, help: "The target version; a lower one reverts migrations.") var to: Int =
            Schema.currentVersion
        @Flag(
            name: .customLong("citus"),
            help: "Distribute the tables among the servers of a Citus cluster. Stop the servers of Aisle first."
        ) var distributes = false
        @Flag(help: "Report the steps, and what they delete, without applying them. Briefly takes the same locks.")
        var dryRun = false
        @Flag(help: "Confirm that reverted migrations delete data.") var yes = false
        func execute() async throws {
            guard (0...Schema.currentVersion).contains(to) else {
                throw CommandFailure("--to must be between 0 and \(Schema.currentVersion)", CommandFailure.usage)
            }
            try await database.withPool(size: 2) { pool in
                if to < Schema.currentVersion { try await confirmLosses(pool) }
                try await DatabaseCommand.migrate(pool, to: to, distributes: distributes, isDryRun: dryRun)
            }
        }

        private func confirmLosses(_ pool: PostgresPool) async throws {
            let losses = try await Migrator(pool).losses(to: to)
            if dryRun {
                for loss in losses { Console.line("would delete: \(loss)") }
            } else if !yes, !losses.isEmpty {
                throw CommandFailure(
                    "migrating down to version \(to) deletes \(losses.map(\.description).joined(separator: ", ")); "
                        + "confirm with --yes",
                    CommandFailure.usage
                )
            }
        }
    }

    struct Recollate: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compute the sort keys of all names, brands and shelf titles again, while servers run.",
            discussion: """
                A release may have another version of ICU, which orders some names in another way. "aisle doctor" and the log of \
                servers say when the stored keys are of another version.
                """
        )
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let changed = try await database.withPool(size: 2) { pool in
                try DatabaseOptions.require(try await Migrator.check(pool))
                return try await Recollation(pool).run { Console.progress("sort keys: \($0) products", share: nil) }
            }
            Console.endProgress()
            Console.line(
                changed == 0
                    ? "all sort keys are current" : "computed the sort keys of \(changed) products and shelves again"
            )
        }
    }

    struct Roles: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the SQL that creates the roles of the owner, the servers and readers.",
            discussion: """
                Run it as a superuser: aisle db roles | psql "$DATABASE_URL". Then set passwords, migrate as the owner, and \
                serve as the server. Repeat it after a migration.
                """
        )
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The role that owns and migrates the schema.") var owner = "aisle_owner"
        @Option(help: "The role of servers, which read and write rows.") var server = "aisle_server"
        @Option(help: "The role that reads the catalog, but neither keys nor users' data.") var reader = "aisle_reader"
        func execute() async throws {
            let roles = DatabaseRoles(owner: owner, server: server, reader: reader)
            let script = try await database.withPool(size: 1) { pool in
                try DatabaseOptions.require(try await Migrator.check(pool))
                return try await roles.script(pool)
            }
            Console.data(script)
        }
    }

    struct Restored: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Record that the database was restored from a copy of its files, so that all devices resync.",
            discussion: """
                Failovers, point-in-time recovery and restored dumps are detected. A disk's snapshot is not: it looks like \
                the same database after a crash.
                """
        )
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withPool(size: 1) { try await DatabaseEpoch.begin($0) }
            Console.line("recorded; devices resync when they next ask for changes")
        }
    }

    struct Reset: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete the private PostgreSQL with all its data, and recreate it."
        )
        @Flag(help: "Confirm the deletion.") var yes = false
        func execute() async throws {
            guard yes else {
                throw CommandFailure(
                    "this deletes all data of the private PostgreSQL; confirm with --yes",
                    CommandFailure.usage
                )
            }
            let cluster = try PrivateCluster(folder: DatabaseOptions.privateFolder)
            try cluster.remove()
            try cluster.start()
            try await ensureDatabase(cluster)
            let pool = PostgresPool(cluster.configuration())
            defer { pool.shutDown() }
            try await migrate(pool, to: Schema.currentVersion, isDryRun: false)
        }
    }

    private static func migrate(
        _ pool: PostgresPool,
        to version: Int,
        distributes: Bool = false,
        isDryRun: Bool
    ) async throws {
        let migrator = Migrator(pool)
        let steps = try await migrator.migrate(
            to: version,
            distributes: distributes,
            isDryRun: isDryRun
        ) { progress in
            let share = progress.total.map { Double(progress.rows) / Double(max(1, $0)) }
            Console.progress("\(progress.part): \(progress.rows) rows", share: share)
        }
        Console.endProgress()
        for step in steps {
            let estimate = isDryRun ? try await migrator.estimate(of: step).map { " (\($0))" } ?? "" : ""
            Console.line((isDryRun ? "would apply: " : "applied: ") + step.description + estimate)
        }
        guard steps.isEmpty else { return }
        if case .compatible(let newer) = try await Migrator.check(pool) {
            Console.note("nothing to do: the schema has version \(newer), which works with this program's \(version)")
        } else {
            Console.note("nothing to do: the schema has version \(version)")
        }
    }
}
