internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import FoundationEssentials
internal import LibPQ
internal import Schema

/// Where the database is.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The database, as a postgresql:// URL or libpq keywords.")
    var dsn: String?

    /// The folder of the private cluster.
    static let privateFolder = ".aisle"

    /// Where the address comes from, for people.
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
                throw CommandFailure("DATABASE_URL is no postgresql:// URL", CommandFailure.configuration)
            }
            return PostgresConfiguration(dsn: url)
        case "libpq's variables": return PostgresConfiguration(dsn: "")
        default:
            let cluster = try PrivateCluster(folder: Self.privateFolder)
            guard cluster.isRunning else {
                throw CommandFailure(
                    "there is no database: none is named, and the private PostgreSQL does not run; start it with: aisle db start",
                    CommandFailure.unavailable
                )
            }
            return cluster.configuration()
        }
    }

    /// How to reach the database past a pooler, for what needs a session or takes long: LISTEN, imports and migrations.
    func directConfiguration() throws -> PostgresConfiguration {
        let environment = ProcessInfo.processInfo.environment
        // It belongs to the database that the environment names, not to another that was asked for.
        guard dsn == nil, !isPrivate, let direct = environment["AISLE_DIRECT_DSN"], !direct.isEmpty else {
            return try configuration()
        }
        do { _ = try PostgresConfiguration.parse(direct) } catch {
            throw CommandFailure("AISLE_DIRECT_DSN is not a PostgreSQL connection string", CommandFailure.configuration)
        }
        return PostgresConfiguration(dsn: direct)
    }

    /// How statements reach the server: `AISLE_PREPARED_STATEMENTS`, `named` or `unnamed`.
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

    /// A pool on the database, whatever its schema, past a pooler.
    func pool(size: Int = 4) throws -> PostgresPool {
        PostgresPool(try directConfiguration(), options: .init(size: size, leaseTimeout: .seconds(10)))
    }

    /// The catalog, after its schema was found to be the program's.
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

    /// The catalog for work on so many connections, whose changes servers are told of.
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

    /// The catalog as a server needs it.
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
                "the database has no schema of aisle's; run: aisle db migrate",
                CommandFailure.configuration
            )
        case .behind(let version):
            throw CommandFailure(
                "the schema is of version \(version), the program's of \(Schema.currentVersion); run: aisle db migrate",
                CommandFailure.configuration
            )
        case .ahead(let version):
            throw CommandFailure(
                "the schema is of version \(version), newer than the program's \(Schema.currentVersion); install a newer aisle, "
                    + "or run its: aisle db migrate --to \(Schema.currentVersion)",
                CommandFailure.configuration
            )
        case .altered(let version):
            throw CommandFailure(
                "migration \(version) in the database is not the program's; restore it, or reset the database",
                CommandFailure.configuration
            )
        }
    }
}
