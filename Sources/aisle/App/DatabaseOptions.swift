internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import FoundationEssentials
internal import LibPQ
internal import Schema

/// The options that select the database.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The database: a postgresql:// URL or libpq keywords.")
    var dsn: String?

    /// The folder of the private cluster.
    static let privateFolder = ".aisle"

    /// The source of the connection string, in words.
    var source: String {
        if dsn != nil { return "--dsn" }
        let environment = ProcessInfo.processInfo.environment
        if environment["DATABASE_URL"]?.isEmpty == false { return "DATABASE_URL" }
        if Self.libpqVariables.contains(where: { environment[$0]?.isEmpty == false }) { return "libpq's variables" }
        return "the private PostgreSQL in \(Self.privateFolder)/"
    }

    private static let libpqVariables = ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE", "PGPORT"]

    var isPrivate: Bool { source.hasPrefix("the private") }

    func configuration() throws -> PostgresConfiguration {
        var configuration = try namedConfiguration()
        configuration.statements = try preparedStatements()
        return configuration
    }

    /// Printed once.
    private static let passwordWarning: Void = Console.note(
        "aisle: warning: other users of this machine can read a password in --dsn; use DATABASE_URL or PGPASSFILE"
    )

    private func namedConfiguration() throws -> PostgresConfiguration {
        if let dsn {
            let parts = try PostgresConfiguration.parse(dsn)
            if parts["password"] != nil { _ = Self.passwordWarning }
            return PostgresConfiguration(dsn: dsn)
        }
        switch source {
        case "DATABASE_URL":
            let url = ProcessInfo.processInfo.environment["DATABASE_URL"]!
            do { _ = try PostgresConfiguration.parse(url) } catch {
                throw CommandFailure("DATABASE_URL is not a PostgreSQL connection string", CommandFailure.configuration)
            }
            return PostgresConfiguration(dsn: url)
        case "libpq's variables": return PostgresConfiguration(dsn: "")
        default:
            let cluster = try PrivateCluster(folder: Self.privateFolder)
            guard cluster.isRunning else {
                throw CommandFailure(
                    "no database: none is configured, and the private PostgreSQL is not running; start it with: aisle db start",
                    CommandFailure.unavailable
                )
            }
            return cluster.configuration()
        }
    }

    /// Returns the configuration that bypasses a pooler, for LISTEN, imports and migrations.
    func directConfiguration() throws -> PostgresConfiguration {
        let environment = ProcessInfo.processInfo.environment
        // AISLE_DIRECT_DSN belongs to DATABASE_URL, not to another selected database.
        guard dsn == nil, !isPrivate, let direct = environment["AISLE_DIRECT_DSN"], !direct.isEmpty else {
            return try configuration()
        }
        do { _ = try PostgresConfiguration.parse(direct) } catch {
            throw CommandFailure("AISLE_DIRECT_DSN is not a PostgreSQL connection string", CommandFailure.configuration)
        }
        return PostgresConfiguration(dsn: direct)
    }

    /// Returns the kind of prepared statements: `AISLE_PREPARED_STATEMENTS`, `named` or `unnamed`.
    private func preparedStatements() throws -> PreparedStatements {
        let text = ProcessInfo.processInfo.environment["AISLE_PREPARED_STATEMENTS"] ?? ""
        guard let statements = text.isEmpty ? .named : PreparedStatements(rawValue: text) else {
            throw CommandFailure(
                "AISLE_PREPARED_STATEMENTS must be named or unnamed (got “\(text)”)",
                CommandFailure.configuration
            )
        }
        return statements
    }

    /// Returns a pool that bypasses a pooler, without checking the schema.
    func pool(size: Int = 4) throws -> PostgresPool {
        PostgresPool(try directConfiguration(), options: .init(size: size, leaseTimeout: .seconds(10)))
    }

    /// Returns the catalog, after checking the schema version.
    func catalog(observer: Observer = .none) async throws -> PostgresCatalog {
        PostgresCatalog(
            try Database(
                try await checkedConfiguration(),
                direct: try directConfiguration(),
                poolSize: 4,
                observer: observer
            )
        )
    }

    /// Returns a catalog with one connection per job, which announces changes to servers.
    func catalog(jobs: Int) async throws -> PostgresCatalog {
        PostgresCatalog(
            try Database(
                try await checkedConfiguration(),
                direct: try directConfiguration(),
                poolSize: jobs,
                leaseTimeout: .seconds(30),
                announces: true
            )
        )
    }

    /// Returns the catalog configured for a server.
    func catalog(serving settings: ServerSettings) async throws -> PostgresCatalog {
        PostgresCatalog(
            try Database(
                try await checkedConfiguration(),
                direct: try directConfiguration(),
                poolSize: settings.poolSize,
                announces: true,
                observer: settings.observer
            )
        )
    }

    private func checkedConfiguration() async throws -> PostgresConfiguration {
        let configuration = try configuration()
        let pool = PostgresPool(configuration, options: .init(size: 1))
        try Self.require(try await Migrator.check(pool))
        pool.shutDown()
        return configuration
    }

    static func require(_ standing: Migrator.Standing) throws {
        switch standing {
        case .current: return
        case .empty:
            throw CommandFailure(
                "the database has no aisle schema; run: aisle db migrate",
                CommandFailure.configuration
            )
        case .behind(let version):
            throw CommandFailure(
                "the schema has version \(version), the program needs \(Schema.currentVersion); run: aisle db migrate",
                CommandFailure.configuration
            )
        case .ahead(let version):
            throw CommandFailure(
                "schema version \(version) is newer than this program's version \(Schema.currentVersion); install a newer aisle, "
                    + "or run with it: aisle db migrate --to \(Schema.currentVersion)",
                CommandFailure.configuration
            )
        case .altered(let version):
            throw CommandFailure(
                "migration \(version) in the database differs from this program's; restore it, or reset the database",
                CommandFailure.configuration
            )
        }
    }
}
