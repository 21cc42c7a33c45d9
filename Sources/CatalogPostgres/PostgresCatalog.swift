package import Catalog
internal import Crypto
package import LibPQ
internal import Synchronization

/// A catalog in PostgreSQL.
///
/// Pages go through a shared pipeline, everything else through a pool. What is remembered between requests (a shelf's
/// number and settings, what users remember, statement texts) is only ever a guess that the answer itself confirms: nothing here can be stale.
package final class PostgresCatalog: CatalogStore {
    package let pool: PostgresPool
    /// For imports, which hold connections for long.
    let imports: PostgresPool
    let pipeline: PostgresPipeline
    private let probe: ReadinessProbe
    package let observer: Observer
    /// Tells other servers what was changed here.
    package let changes: ChangeAnnouncer
    /// Whether keys of manual orders are due for compaction.
    package let longKeys = LongKeys()
    private let memory = Mutex(Memory())
    /// Keys the hashes of customers; nil until it is read.
    let customerKeyMemory = Mutex<SymmetricKey?>(nil)

    private struct Memory {
        var heads: [String: ShelfRow.HeadRead] = [:]
        var views: [String: RememberedViews] = [:]
        var statements: [PageStatement.Shape: PageStatement] = [:]
        var facetStatements: [FacetStatement.Shape: FacetStatement] = [:]
    }

    /// How many heads or statements are remembered before all are forgotten.
    private static let memoryBound = 4096
    /// As many of what users remember.
    private static let viewsBound = 32_768

    private init(
        pool: PostgresPool,
        imports: PostgresPool,
        pipeline: PostgresPipeline,
        changes: ChangeAnnouncer = ChangeAnnouncer(nil),
        observer: Observer = .none
    ) {
        self.changes = changes
        self.observer = observer
        self.pool = pool
        probe = ReadinessProbe(pool.configuration)
        self.imports = imports
        self.pipeline = pipeline
    }

    /// A catalog with connections of its own, made as they are needed.
    ///
    /// - Parameters:
    ///   - direct: how imports reach the database, where `configuration` leads to a pooler.
    ///   - leaseTimeout: how long a write or a long read waits for a connection.
    ///   - announces: whether other servers are told of changes; without it they notice within a second or two.
    package convenience init(
        _ configuration: PostgresConfiguration,
        direct: PostgresConfiguration? = nil,
        poolSize: Int = 8,
        leaseTimeout: Duration = .seconds(3),
        announces: Bool = false,
        observer: Observer = .none
    ) throws {
        self.init(
            pool: PostgresPool(
                configuration.with(DatabaseSettings.writes),
                options: .init(size: poolSize, leaseTimeout: leaseTimeout)
            ),
            imports: PostgresPool(
                (direct ?? configuration).with(DatabaseSettings.imports),
                options: .init(size: Self.importConnections, leaseTimeout: leaseTimeout)
            ),
            pipeline: try PostgresPipeline(configuration.with(DatabaseSettings.pages)),
            changes: ChangeAnnouncer(announces ? configuration : nil),
            observer: observer
        )
    }

    /// How many imports may be under way.
    private static let importConnections = 4

    package func shutDown() {
        pool.shutDown()
        imports.shutDown()
        pipeline.shutDown()
        changes.shutDown()
        Task { [probe] in await probe.close() }
    }

    package func readiness() async -> Readiness { await probe.readiness() }

    /// The key of the cursors' MAC that all servers of the deployment share.
    package func cursorKey() async throws(CatalogError) -> [UInt8] {
        try await mappingErrors {
            try await pool.perform(within: .seconds(5)) {
                try $0.query("SELECT cursor_key FROM deployment WHERE deployment_id = 1") {
                    try $0.first { try $0.bytea(0) }
                }
            } ?? []
        }
    }

    func mappingErrors<T>(_ body: () async throws -> T) async throws(CatalogError) -> T {
        try await observer.mappingErrors(body)
    }

    /// What a request was settled by before.
    func remembered(_ request: PageRequest) -> PageBasis? {
        let key = "\(request.store)/\(request.shelf)"
        return memory.withLock { memory in
            guard let head = memory.heads[key] else { return nil }
            guard let user = request.user, request.after == nil else { return PageBasis(head: head) }
            return memory.views["\(key)/\(user)"].map { PageBasis(head: head, views: $0) }
        }
    }

    func remember(_ basis: PageBasis, of request: PageRequest) {
        let key = "\(request.store)/\(request.shelf)"
        memory.withLock {
            if $0.heads.count >= Self.memoryBound { $0.heads.removeAll() }
            $0.heads[key] = basis.head
            guard let user = request.user, request.after == nil else { return }
            if $0.views.count >= Self.viewsBound { $0.views.removeAll() }
            $0.views["\(key)/\(user)"] = basis.views
        }
    }

    func statement(_ shape: PageStatement.Shape) -> PageStatement {
        memory.withLock { Self.remembered(shape, in: &$0.statements, PageStatement.init) }
    }

    func statement(_ shape: FacetStatement.Shape) -> FacetStatement {
        memory.withLock { Self.remembered(shape, in: &$0.facetStatements, FacetStatement.init) }
    }

    private static func remembered<Shape, Statement>(
        _ shape: Shape,
        in statements: inout [Shape: Statement],
        _ make: (Shape) -> Statement
    ) -> Statement {
        if let statement = statements[shape] { return statement }
        if statements.count >= memoryBound { statements.removeAll() }
        let statement = make(shape)
        statements[shape] = statement
        return statement
    }
}
