internal import Synchronization

/// Whether a server is draining: it was asked to stop but still serves existing clients.
package final class DrainState: Sendable {
    private let state = Atomic(false)

    package init() {}

    package var isDraining: Bool { state.load(ordering: .relaxed) }

    package func begin() { state.store(true, ordering: .relaxed) }
}
