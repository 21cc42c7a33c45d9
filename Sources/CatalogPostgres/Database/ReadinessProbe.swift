internal import Catalog
internal import LibPQ
internal import Synchronization

/// Looks at the database for `/readyz`, on a connection of its own: no lack of connections elsewhere, and no stalled
/// server, keeps the answer waiting.
actor ReadinessProbe {
    private let configuration: PostgresConfiguration
    private var connection: PostgresConnection?
    private var probe: Task<Readiness, Never>?

    /// How long a caller waits.
    private static let patience: Duration = .milliseconds(800)

    init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    /// What can be served now; `unavailable` if the database has not answered in time. Callers at the same time share one
    /// look.
    nonisolated func readiness() async -> Readiness {
        await withCheckedContinuation { continuation in
            let answer = Once(continuation)
            Task { answer.give(await look()) }
            Task {
                try? await Task.sleep(for: Self.patience)
                answer.give(.unavailable)
            }
        }
    }

    func close() async {
        await connection?.close()
        connection = nil
    }

    private func look() async -> Readiness {
        if let probe { return await probe.value }
        let task = Task { await ask() }
        probe = task
        defer { probe = nil }
        return await task.value
    }

    private func ask() async -> Readiness {
        do {
            let connection = try await open()
            let readiness = try await connection.perform(within: Self.patience) { connection in
                guard try Migrator.standing(connection) == .current else { return Readiness.unavailable }
                let isReadOnly = try connection.query(
                    DatabaseStatements.isReadOnly
                ) { try $0.first { try $0.bool(0) } ?? true }
                return isReadOnly ? .readOnly : .ready
            }
            // After a failover another host may be the primary: the next look connects again.
            if readiness == .readOnly { await close() }
            return readiness
        } catch {
            await close()
            return .unavailable
        }
    }

    private func open() async throws -> PostgresConnection {
        if let connection, await connection.isReusable() { return connection }
        let fresh = try await PostgresConnection.connect(configuration)
        connection = fresh
        return fresh
    }
}

/// A continuation that the first answer resumes.
private final class Once: Sendable {
    private let continuation: Mutex<CheckedContinuation<Readiness, Never>?>

    init(_ continuation: CheckedContinuation<Readiness, Never>) { self.continuation = Mutex(continuation) }

    func give(_ readiness: Readiness) { continuation.withLock { $0.take() }?.resume(returning: readiness) }
}
