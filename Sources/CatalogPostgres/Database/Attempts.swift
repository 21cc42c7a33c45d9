internal import Catalog

/// Runs a body until it returns a value: what it reads may change before it can be locked or compared.
///
/// - Parameter limit: the maximum number of attempts, which follow each other without a pause.
/// - Throws: `unavailable` after the last attempt.
func attempting<T>(_ limit: Int, _ body: () throws -> T?) throws -> T {
    for _ in 0..<limit {
        if let value = try body() { return value }
    }
    throw CatalogError.unavailable
}

/// The same for a body that waits.
func attempting<T>(_ limit: Int, _ body: () async throws -> T?) async throws -> T {
    for _ in 0..<limit {
        if let value = try await body() { return value }
    }
    throw CatalogError.unavailable
}
