package import LibPQ

/// A pool of connections for one kind of work, so that no kind can starve another.
package struct Lane: Sendable {
    package let pool: PostgresPool

    package var configuration: PostgresConfiguration { pool.configuration }

    /// Runs a block of synchronous calls on a connection's thread.
    @discardableResult
    package func perform<T: Sendable>(
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.perform(within: limit, body)
    }

    /// Runs a block in one transaction, with up to three retries if the server requests them.
    @discardableResult
    package func transaction<T: Sendable>(
        _ mode: StaticString = "",
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await pool.transaction(mode, within: limit, body)
    }

    /// Runs a block in one transaction; the block decides whether to commit.
    @discardableResult
    package func transaction<T: Sendable>(
        within limit: Duration? = nil,
        deciding body: @escaping @Sendable (isolated PostgresConnection) throws -> TransactionEnd<T>
    ) async throws -> T {
        try await pool.transaction(within: limit, deciding: body)
    }

    /// Runs a block with exclusive use of a connection.
    package func withConnection<T: Sendable>(_ body: (PostgresConnection) async throws -> T) async throws -> T {
        try await pool.withConnection(body)
    }
}
