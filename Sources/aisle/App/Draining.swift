internal import CatalogHTTP
internal import Glibc
internal import Logging
internal import ServiceLifecycle

/// Signals the start of a shutdown before anything stops: `/readyz` returns 503 from then on, so that load balancers
/// have time to notice.
struct Draining: Service {
    let state: DrainState
    /// How long new requests are still accepted.
    let delay: Duration
    /// How long the shutdown may take after that; then the process exits, even if work still runs.
    let limit: Duration
    let log: ServerLog
    /// Notifies systemd; nil if it did not start the server.
    let notifier: SystemdNotifier?

    func run() async throws {
        // A service that fails cancels the others.
        let hasFailed = (try? await gracefulShutdown()) == nil
        state.begin()
        await notifier?.send(.stopping(limit: delay + limit), within: .seconds(1))
        try? await Task.sleep(for: delay)
        endEventually(hasFailed ? EXIT_FAILURE : EXIT_SUCCESS)
    }

    /// Ends the process at the limit: a task that ignores its cancellation must not keep it. Transactions that were not
    /// committed are rolled back.
    private func endEventually(_ status: Int32) {
        let (limit, log) = (limit, log)
        Task.detached {
            try? await Task.sleep(for: limit)
            log.logger.warning(
                "the shutdown took longer than \(limit.components.seconds) seconds; ending the process"
            )
            log.flush()
            exit(status)
        }
    }
}
