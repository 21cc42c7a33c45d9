internal import Glibc
internal import Synchronization

/// The cancellation requests of a connection. Each operation has its own number, so that a late request
/// never stops the next operation.
final class Interrupt: Sendable {
    private struct State {
        var last: UInt64 = 0
        var requested: Set<UInt64> = []
    }

    let wakeup: Wakeup
    private let state = Mutex(State())

    init() throws(PostgresError) { wakeup = try Wakeup() }

    func begin() -> UInt64 {
        state.withLock {
            $0.last += 1
            return $0.last
        }
    }

    func request(_ operation: UInt64) {
        state.withLock { _ = $0.requested.insert(operation) }
        wakeup.signal()
    }

    func isRequested(_ operation: UInt64) -> Bool { state.withLock { $0.requested.contains(operation) } }

    func end(_ operation: UInt64) { state.withLock { _ = $0.requested.remove(operation) } }
}
