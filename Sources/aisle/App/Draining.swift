internal import CatalogHTTP
internal import ServiceLifecycle

/// Signals the start of a shutdown before anything stops: `/readyz` returns 503 from then on, so that load balancers
/// have time to notice.
struct Draining: Service {
    let state: DrainState
    /// How long new requests are still accepted.
    let delay: Duration

    func run() async throws {
        try? await gracefulShutdown()
        state.begin()
        try? await Task.sleep(for: delay)
    }
}
