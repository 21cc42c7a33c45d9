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
    /// How long the shutdown may take after that, before the process ends whatever still runs.
    let limit: Duration
    let logger: Logger
    /// Notifies systemd; nil if it did not start the server.
    let notifier: SystemdNotifier?

    func run() async throws {
        try? await gracefulShutdown()
        notifier?.send(.stopping(limit: delay + limit))
        state.begin()
        try? await Task.sleep(for: delay)
        endEventually()
    }

    /// Ends the process at the limit: a task that ignores its cancellation must not keep it. Transactions that were not
    /// committed are rolled back.
    private func endEventually() {
        let (limit, logger) = (limit, logger)
        Task.detached {
            try? await Task.sleep(for: limit)
            logger.warning("the shutdown took longer than \(limit.components.seconds) seconds; ending the process")
            exit(EXIT_SUCCESS)
        }
    }
}
