package import Catalog
package import LibPQ

/// The way to a database: its lanes, and what every store needs besides. It knows no feature.
package final class Database: Sendable {
    /// Pages and other short reads, pipelined.
    package let pages: PostgresPipeline
    /// Writes, and reads of whole orders.
    package let writes: Lane
    /// Imports, which hold connections for long.
    package let imports: Lane
    /// Announces changes to other servers.
    package let announcer: ChangeAnnouncer
    package let observer: Observer
    /// Whether keys of manual orders are due for compaction.
    package let longKeys = LongKeys()
    private let probe: ReadinessProbe

    /// The number of imports that can run at the same time.
    private static let importConnections = 4

    /// Opens connections as they are needed.
    ///
    /// - Parameters:
    ///   - direct: how imports reach the database if `configuration` leads to a pooler.
    ///   - leaseTimeout: how long a write or a long read waits for a connection.
    ///   - announces: whether other servers are told of changes; without it they notice within a second or two.
    package init(
        _ configuration: PostgresConfiguration,
        direct: PostgresConfiguration? = nil,
        poolSize: Int = 8,
        leaseTimeout: Duration = .seconds(3),
        announces: Bool = false,
        observer: Observer = .none
    ) throws {
        let writes = PostgresPool(
            configuration.with(DatabaseSettings.writes),
            options: .init(size: poolSize, leaseTimeout: leaseTimeout)
        )
        let imports = PostgresPool(
            (direct ?? configuration).with(DatabaseSettings.imports),
            options: .init(size: Self.importConnections, leaseTimeout: leaseTimeout)
        )
        self.writes = Lane(pool: writes)
        self.imports = Lane(pool: imports)
        pages = try PostgresPipeline(configuration.with(DatabaseSettings.pages))
        announcer = ChangeAnnouncer(announces ? configuration : nil)
        probe = ReadinessProbe(writes.configuration)
        self.observer = observer
    }

    package func shutDown() {
        writes.pool.shutDown()
        imports.pool.shutDown()
        pages.shutDown()
        announcer.shutDown()
        Task { [probe] in await probe.close() }
    }

    /// Returns what can be served now, on a connection of its own.
    package func readiness() async -> Readiness { await probe.readiness() }

    /// The key that all servers of the deployment share.
    package func deploymentKey() async throws(CatalogError) -> [UInt8] {
        try await mappingErrors {
            let key = try await writes.perform(within: .seconds(5)) {
                try $0.query(DatabaseStatements.deploymentKey) {
                    try $0.first { try $0.bytea(0) }
                }
            }
            guard let key else { throw CatalogError.fault("the deployment has no key") }
            return key
        }
    }

    /// Runs a body, and maps its errors to those of the domain.
    func mappingErrors<T>(_ body: () async throws -> T) async throws(CatalogError) -> T {
        try await observer.mappingErrors(body)
    }

    /// Runs a transaction that changes a store, and announces the change.
    ///
    /// - Parameter limit: longer than the default only for a transaction that rewrites a whole store.
    func write<T: Sendable>(
        to store: CatalogKey,
        within limit: Duration = .seconds(10),
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws(CatalogError) -> T {
        try await mappingErrors {
            let value = try await writes.transaction(within: limit, body)
            announcer.announce(.store(store))
            return value
        }
    }

    /// Runs a change of a user's own again if the user was erased, or created again, in the middle of it.
    func besideErasure<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        for _ in 0..<16 {
            do { return try await body() } catch let error as PostgresError
                where error.sqlState == .foreignKeyViolation
                && Self.isErasure(error.constraint)
            { continue }
        }
        throw CatalogError.unavailable
    }

    /// Whether an erasure may have violated a foreign key: those to `user_account` and to users' lists. On a shard a
    /// constraint's name has a suffix.
    private static func isErasure(_ constraint: String?) -> Bool {
        guard let constraint else { return true }
        return constraint.contains("_account_fkey") || constraint.contains("_list_fkey")
    }
}
