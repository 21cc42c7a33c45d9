internal import Catalog
package import CatalogPostgres
package import LibPQ

extension Lane {
    /// Runs a block of synchronous calls on a connection's thread, for at most half a minute.
    @discardableResult
    package func perform<T: Sendable>(
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await perform(within: .shelf, body)
    }
}
