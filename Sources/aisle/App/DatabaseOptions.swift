internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import FoundationEssentials
internal import LibPQ
internal import LocalPostgres
internal import Schema

/// The options that select the database.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The database: a postgresql:// URL or libpq keywords.")
    var dsn: String?

    /// The folder of the private cluster.
    static let privateFolder = ".aisle"

    private static var folderName: String { FileManager.default.currentDirectoryPath + "/" + privateFolder }

    /// Where the connection string comes from.
    enum Source: Equatable {
        case option(String)
        case databaseURL(String)
        case databaseURLFile(String)
        case libpqVariables
        case privateCluster

        var title: String {
            switch self {
            case .option: "--dsn"
            case .databaseURL: "DATABASE_URL"
            case .databaseURLFile(let path): "the file \(path) of AISLE_DATABASE_URL_FILE"
            case .libpqVariables: "libpq's variables"
            case .privateCluster: "the private PostgreSQL in \(DatabaseOptions.privateFolder)/"
            }
        }
    }

    var source: Source { source(in: Self.environment) }

    func source(in environment: [String: String]) -> Source {
        if let dsn { return .option(dsn) }
        if let url = environment["DATABASE_URL"], !url.isEmpty { return .databaseURL(url) }
        if let path = environment["AISLE_DATABASE_URL_FILE"], !path.isEmpty { return .databaseURLFile(path) }
        if Self.libpqVariables.contains(where: { environment[$0]?.isEmpty == false }) { return .libpqVariables }
        return .privateCluster
    }

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    private static let libpqVariables = ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE", "PGPORT"]

    var isPrivate: Bool { source == .privateCluster }

    func configuration(in environment: [String: String] = Self.environment) throws -> PostgresConfiguration {
        var configuration = try namedConfiguration(environment)
        configuration.statements = try Self.preparedStatements(environment)
        return configuration
    }

    /// Printed once.
    private static let passwordWarning: Void = Console.note(
        "aisle: warning: other users of this machine can read a password in --dsn; use DATABASE_URL or PGPASSFILE"
    )

    private func namedConfiguration(_ environment: [String: String]) throws -> PostgresConfiguration {
        switch source(in: environment) {
        case .option(let dsn):
            let parts = try PostgresConfiguration.parse(dsn)
            if parts["password"] != nil { _ = Self.passwordWarning }
            return PostgresConfiguration(dsn: dsn)
        case .databaseURL(let url): return try Self.configuration(url, of: "DATABASE_URL")
        case .databaseURLFile(let path): return try Self.configuration(inFile: path, of: "AISLE_DATABASE_URL_FILE")
        case .libpqVariables: return PostgresConfiguration(dsn: "")
        case .privateCluster:
            let cluster = try PrivateCluster(folder: Self.privateFolder)
            guard cluster.isRunning else {
                throw CommandFailure(
                    "no database: none is configured, and no private PostgreSQL runs in \(Self.folderName); change to the folder in "
                        + "which you ran aisle dev, set DATABASE_URL, or start one here with: aisle db start",
                    CommandFailure.unavailable
                )
            }
            return cluster.configuration()
        }
    }

    /// - Parameter source: the source of the connection string, for the error.
    private static func configuration(_ dsn: String, of source: String) throws -> PostgresConfiguration {
        do { _ = try PostgresConfiguration.parse(dsn) } catch {
            throw CommandFailure("\(source) is not a PostgreSQL connection string", CommandFailure.configuration)
        }
        return PostgresConfiguration(dsn: dsn)
    }

    private static func configuration(inFile path: String, of variable: String) throws -> PostgresConfiguration {
        let (text, source) = try secret(inFile: path, of: variable)
        return try configuration(text, of: source)
    }

    private static func secret(inFile path: String, of variable: String) throws -> (text: String, source: String) {
        let text = String(decoding: try SecretFile.read(path, of: variable), as: UTF8.self)
        guard !text.isEmpty else {
            throw CommandFailure("the file \(path) of \(variable) is empty", CommandFailure.configuration)
        }
        return (text, "the content of the file \(path) of \(variable)")
    }

    /// Returns the text of a variable and the source for errors; nil if the variable is not set. If the variable with the suffix
    /// `_FILE` is set instead, the text is the content of that file.
    private static func variable(
        _ name: String,
        in environment: [String: String]
    ) throws -> (text: String, source: String)? {
        if let text = environment[name], !text.isEmpty { return (text, name) }
        guard let path = environment[name + "_FILE"], !path.isEmpty else { return nil }
        return try secret(inFile: path, of: name + "_FILE")
    }

    /// Returns the configuration that bypasses a pooler, for LISTEN, imports and migrations.
    func directConfiguration(in environment: [String: String] = Self.environment) throws -> PostgresConfiguration {
        // AISLE_DIRECT_DSN belongs to DATABASE_URL, not to another selected database.
        guard isShared(environment), let (text, source) = try Self.variable("AISLE_DIRECT_DSN", in: environment) else {
            return try configuration(in: environment)
        }
        return try Self.configuration(text, of: source)
    }

    /// Returns the configurations of the replicas that answer reads: the URLs in `AISLE_READ_DSN` or its file, separated by spaces,
    /// or one string of libpq's keywords.
    func replicaConfigurations(in environment: [String: String] = Self.environment) throws -> [PostgresConfiguration] {
        // AISLE_READ_DSN belongs to DATABASE_URL, not to another selected database.
        guard isShared(environment), let text = try Self.variable("AISLE_READ_DSN", in: environment)?.text else {
            return []
        }
        let statements = try Self.preparedStatements(environment)
        return try Self.connectionStrings(text).map { dsn in
            do { _ = try PostgresConfiguration.parse(dsn) } catch {
                throw CommandFailure(
                    "AISLE_READ_DSN must be PostgreSQL connection URLs, separated by spaces, or one string of keywords",
                    CommandFailure.configuration
                )
            }
            return PostgresConfiguration(dsn: dsn, statements: statements)
        }
    }

    /// Whether the environment selects a database that is not the private one.
    private func isShared(_ environment: [String: String]) -> Bool {
        dsn == nil && source(in: environment) != .privateCluster
    }

    /// Returns the connection strings in a text. A URL has no spaces, which separate keywords.
    static func connectionStrings(_ text: String) -> [String] {
        let words = text.split { $0.isWhitespace }
        guard let first = words.first else { return [] }
        let isURL = ["postgresql://", "postgres://"].contains { first.hasPrefix($0) }
        return isURL ? words.map(String.init) : [text]
    }

    /// Returns the kind of prepared statements: `AISLE_PREPARED_STATEMENTS`, `named` or `unnamed`.
    private static func preparedStatements(_ environment: [String: String]) throws -> PreparedStatements {
        let text = environment["AISLE_PREPARED_STATEMENTS"] ?? ""
        guard let statements = text.isEmpty ? .named : PreparedStatements(rawValue: text) else {
            throw CommandFailure(
                "AISLE_PREPARED_STATEMENTS must be named or unnamed (got “\(text)”)",
                CommandFailure.configuration
            )
        }
        return statements
    }

    /// Runs a body with the catalog, after checking the schema version.
    func withCatalog<T>(_ body: (PostgresCatalog) async throws -> T) async throws -> T {
        try await Self.with(try await catalog(ConnectionCounts(writes: 4)), body)
    }

    /// Runs a body with a catalog that has one connection per job, and announces changes to servers.
    func withCatalog<T>(jobs: Int, _ body: (PostgresCatalog) async throws -> T) async throws -> T {
        try await Self.with(
            try await catalog(ConnectionCounts(writes: jobs, batch: jobs), waitLimit: .seconds(30), announces: true),
            body
        )
    }

    private static func with<T>(
        _ catalog: PostgresCatalog,
        _ body: (PostgresCatalog) async throws -> T
    ) async throws -> T {
        defer { catalog.shutDown() }
        return try await body(catalog)
    }

    /// Runs a body with a pool that bypasses a pooler, without checking the schema.
    func withPool<T>(size: Int = 4, _ body: (PostgresPool) async throws -> T) async throws -> T {
        let pool = PostgresPool(try directConfiguration(), options: .init(size: size, leaseTimeout: .seconds(10)))
        defer { pool.shutDown() }
        return try await body(pool)
    }

    /// Returns the catalog configured for a server.
    func catalog(serving settings: ServerSettings, _ observer: Observer<DatabaseObservation>) async throws
        -> PostgresCatalog
    {
        try await catalog(
            settings.connections,
            replicas: try replicaConfigurations(),
            lagLimit: settings.readLag,
            readsWorkers: settings.readsWorkers,
            announces: true,
            shelfMemory: settings.shelfMegabytes << 20,
            observer: observer
        )
    }

    private func catalog(
        _ connections: ConnectionCounts,
        replicas: [PostgresConfiguration] = [],
        lagLimit: Duration = Replicas.lagLimit,
        waitLimit: Duration = Database.waitLimit,
        readsWorkers: Bool = false,
        announces: Bool = false,
        shelfMemory: Int = PostgresCatalog.shelfMemory,
        observer: Observer<DatabaseObservation> = .none
    ) async throws -> PostgresCatalog {
        PostgresCatalog(
            try Database(
                try await checkedConfiguration(),
                direct: try directConfiguration(),
                replicas: replicas,
                lagLimit: lagLimit,
                connections: connections,
                waitLimit: waitLimit,
                readsWorkers: readsWorkers,
                announces: announces,
                observer: observer
            ),
            encodingEvents: \.json,
            shelfMemory: shelfMemory
        )
    }

    private func checkedConfiguration() async throws -> PostgresConfiguration {
        let configuration = try configuration()
        let pool = PostgresPool(configuration, options: .init(size: 1))
        defer { pool.shutDown() }
        try Self.require(try await Migrator.check(pool))
        return configuration
    }

    static func require(_ state: Migrator.SchemaState) throws {
        switch state {
        case .current, .compatible: return
        case .worker: throw CommandFailure(Distribution.workerRefusal, CommandFailure.configuration)
        case .empty:
            throw CommandFailure(
                "the database has no aisle schema; run: aisle db migrate",
                CommandFailure.configuration
            )
        case .outdated(let version):
            throw CommandFailure(
                "the schema has version \(version), but this program needs \(Schema.currentVersion); run: aisle db migrate",
                CommandFailure.configuration
            )
        case .newer(let version):
            throw CommandFailure(
                "the schema has version \(version), but this program supports at most \(Schema.currentVersion); install the newer aisle "
                    + "release, or use it to run: aisle db migrate --to \(Schema.currentVersion)",
                CommandFailure.configuration
            )
        case .altered(let version):
            throw CommandFailure(
                "migration \(version) in the database differs from this program's; run the aisle release that applied it, or reset the database",
                CommandFailure.configuration
            )
        }
    }
}
