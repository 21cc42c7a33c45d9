internal import ServiceLifecycle
internal import Synchronization

/// Signals the start of a shutdown before anything stops: `/readyz` returns 503 from then on, so that load balancers
/// have time to notice.
final class Draining: Service {
    private let state = Atomic(false)
    private let delay: Duration

    /// - Parameter delay: how long new requests are still accepted.
    init(for delay: Duration) { self.delay = delay }

    var isDraining: Bool { state.load(ordering: .relaxed) }

    func run() async throws {
        try? await gracefulShutdown()
        state.store(true, ordering: .relaxed)
        try? await Task.sleep(for: delay)
    }
}
