package import Catalog
package import LibPQ

/// A pool of connections for one kind of work, so that no kind can starve another.
package struct Lane: Sendable {
    /// The name in metrics.
    let name: String
    package let pool: PostgresPool

    /// - Parameters:
    ///   - name: the name in logs and traces.
    ///   - configuration: including the lane's transaction settings.
    ///   - connections: the maximum number of connections.
    ///   - waiting: the maximum number of callers that wait for one; further callers fail at once.
    ///   - leaseTimeout: the maximum time that a caller waits for a connection.
    init(
        _ name: String,
        _ configuration: PostgresConfiguration,
        connections: Int,
        waiting: Int,
        leaseTimeout: Duration,
        observer: Observer
    ) {
        self.name = name
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

    /// Runs a block of synchronous calls on a connection's thread.
    @discardableResult
    package func perform<T: Sendable>(
        within limit: TimeLimit,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.perform(within: limit.duration, epilogue: Self.epilogue, body)
    }

    /// Runs a block in one transaction, with up to three retries if the server requests them.
    @discardableResult
    package func transaction<T: Sendable>(
        _ mode: StaticString = "",
        within limit: TimeLimit,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.transaction(mode, within: limit.duration, epilogue: Self.epilogue, body)
    }

    /// Runs a block in one transaction; the block decides whether to commit.
    @discardableResult
    package func transaction<T: Sendable>(
        within limit: TimeLimit,
        deciding body: @escaping @Sendable (isolated PostgresConnection) throws -> TransactionEnd<T>
    ) async throws -> T {
        try await pool.transaction(within: limit.duration, epilogue: Self.epilogue, deciding: body)
    }

    /// The mode of a transaction whose statements all read the same state.
    static let snapshotMode: StaticString = "ISOLATION LEVEL REPEATABLE READ READ ONLY"

    /// Runs a block that only reads, in one transaction whose statements all read the same state.
    @discardableResult
    package func snapshot<T: Sendable>(
        within limit: TimeLimit,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.transaction(Self.snapshotMode, within: limit.duration, body)
    }

    /// Runs a block with exclusive use of a connection.
    package func withConnection<T: Sendable>(_ body: (PostgresConnection) async throws -> T) async throws -> T {
        defer { PositionRecorder.current?.forget() }
        return try await pool.withConnection(body)
    }

    /// Reads the position after each transaction if the current request asks for it.
    private static var epilogue: TransactionEpilogue? {
        PositionRecorder.current.map { recorder in
            TransactionEpilogue(PositionStatements.current) { rows in
                if let position = try PositionStatements.position(rows) { recorder.record(position) }
            }
        }
    }
}
