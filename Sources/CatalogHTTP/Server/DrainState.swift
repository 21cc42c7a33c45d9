internal import Synchronization

/// The draining state of a server that was asked to stop but still serves existing clients.
package final class DrainState: Sendable {
    private let state = Atomic(false)

    package init() {}

    /// Whether the server is draining.
    package var isDraining: Bool { state.load(ordering: .relaxed) }

    /// Starts to drain.
    package func begin() { state.store(true, ordering: .relaxed) }
}
