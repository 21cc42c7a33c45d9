internal import ServiceLifecycle
internal import Synchronization

/// Says that the server was asked to stop, before anything of it stops: `/readyz` answers 503 from then on, and balancers
/// have a while to notice.
final class Draining: Service {
    private let state = Atomic(false)
    private let pause: Duration

    /// - Parameter pause: how long new requests are still served.
    init(for pause: Duration) { self.pause = pause }

    var isDraining: Bool { state.load(ordering: .relaxed) }

    func run() async throws {
        try? await gracefulShutdown()
        state.store(true, ordering: .relaxed)
        try? await Task.sleep(for: pause)
    }
}
