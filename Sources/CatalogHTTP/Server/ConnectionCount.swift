internal import Synchronization

/// The number of open connections of a listening socket.
package final class ConnectionCount: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package var current: Int { count.load(ordering: .relaxed) }

    func set(_ value: Int) { count.store(value, ordering: .relaxed) }
}
