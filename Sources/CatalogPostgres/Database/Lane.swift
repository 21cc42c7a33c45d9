package import Catalog
package import LibPQ

/// A pool of connections for one kind of work, so that no kind can starve another.
package struct Lane: Sendable {
    /// The name in metrics.
    let name: String
    package let pool: PostgresPool
    /// The workers among which an owner's is found; nil if tables are not distributed.
    private let workers: StoreWorkers?

    /// - Parameters:
    ///   - name: the name in logs and traces.
    ///   - configuration: including the lane's transaction settings.
    ///   - connections: the maximum number of connections.
    ///   - waiting: the maximum number of callers that wait for one; further callers fail at once.
    ///   - leaseTimeout: the maximum time that a caller waits for a connection.
    ///   - workers: the workers; the callers that need the same worker use at most half of the connections.
    init(
        _ name: String,
        _ configuration: PostgresConfiguration,
        connections: Int,
        waiting: Int,
        leaseTimeout: Duration,
        workers: StoreWorkers? = nil,
        observer: Observer<DatabaseObservation>
    ) {
        self.name = name
        self.workers = workers
        pool = PostgresPool(
            configuration,
            options: .init(
                size: connections,
                leaseTimeout: leaseTimeout,
                maximumWaiting: waiting,
                name: name,
                onLease: { observer.observe(.laneWaited(lane: name, $0)) }
            )
        )
    }

    /// The current use of the lane.
    var use: LaneUse {
        let counts = pool.counts
        return LaneUse(lane: name, limit: pool.size, open: counts.total, inUse: counts.leased, waiting: counts.waiting)
    }

    func shutDown() { pool.shutDown() }

    package var configuration: PostgresConfiguration { pool.configuration }

    /// Returns the group of the callers that need the rows of an owner, and perhaps of another; nil without Citus.
    func group(of owner: DataOwner?, and other: DataOwner? = nil) -> PoolGroup? {
        workers?.group(of: owner, and: other)
    }

    /// Runs a block of synchronous calls on a connection's thread.
    ///
    /// - Parameter owner: the owner of all rows that the block needs; nil if there are several.
    @discardableResult
    package func perform<T: Sendable>(
        within limit: TimeLimit,
        of owner: DataOwner? = nil,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.perform(within: limit.duration, of: group(of: owner), epilogue: Self.epilogue, body)
    }

    /// Runs a block in one transaction, with retries if the server requests them.
    @discardableResult
    package func transaction<T: Sendable>(
        _ mode: StaticString = "",
        within limit: TimeLimit,
        of owner: DataOwner? = nil,
        attempts: Int = PostgresPool.usualAttempts,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.transaction(
            mode,
            within: limit.duration,
            of: group(of: owner),
            epilogue: Self.epilogue,
            attempts: attempts,
            body
        )
    }

    /// Runs a block in one transaction; the block decides whether to commit.
    @discardableResult
    package func transaction<T: Sendable>(
        within limit: TimeLimit,
        of owner: DataOwner? = nil,
        deciding body: @escaping @Sendable (isolated PostgresConnection) throws -> TransactionEnd<T>
    ) async throws -> T {
        try await pool.transaction(
            within: limit.duration,
            of: group(of: owner),
            epilogue: Self.epilogue,
            deciding: body
        )
    }

    /// The mode of a transaction whose statements all read the same state.
    static let snapshotMode: StaticString = "ISOLATION LEVEL REPEATABLE READ READ ONLY"

    /// Runs a block that only reads, in one transaction whose statements all read the same state.
    @discardableResult
    package func snapshot<T: Sendable>(
        within limit: TimeLimit,
        of owner: DataOwner? = nil,
        and other: DataOwner? = nil,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.transaction(
            Self.snapshotMode,
            within: limit.duration,
            of: group(of: owner, and: other),
            body
        )
    }

    /// Runs a block with exclusive use of a connection.
    package func withConnection<T: Sendable>(
        of owner: DataOwner? = nil,
        _ body: (PostgresConnection) async throws -> T
    ) async throws -> T {
        defer { LogPositionRecorder.current?.forget() }
        return try await pool.withConnection(of: group(of: owner), body)
    }

    /// Reads the log position after each transaction if the current request asks for it.
    private static var epilogue: TransactionEpilogue? {
        LogPositionRecorder.current.map { recorder in
            TransactionEpilogue(LogPositionStatements.current, failed: { recorder.forget() }) { rows in
                if let logPosition = try LogPositionStatements.position(rows) { recorder.record(logPosition) }
            }
        }
    }
}

/// The use of a lane's connections at one time.
package struct LaneUse: Sendable, Hashable {
    package let lane: String
    /// The maximum number of connections.
    package let limit: Int
    /// The number of connections, including those that are being established.
    package let open: Int
    /// The number of leased connections; nil for pages, which share their connections.
    package let inUse: Int?
    /// The number of callers that wait; for pages, of reads in flight.
    package let waiting: Int
}
