internal import LibPQ

/// A connection of its own for probes, which is replaced after an error.
actor ProbeConnection {
    private let configuration: PostgresConfiguration
    private var connection: PostgresConnection?

    init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    /// Runs a block of synchronous calls on the connection's thread.
    func perform<T: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        do { return try await open().perform(within: limit, body) } catch {
            await close()
            throw error
        }
    }

    func close() async {
        await connection?.close()
        connection = nil
    }

    private func open() async throws -> PostgresConnection {
        if let connection, await connection.isReusable() { return connection }
        let fresh = try await PostgresConnection.connect(configuration)
        connection = fresh
        return fresh
    }
}
