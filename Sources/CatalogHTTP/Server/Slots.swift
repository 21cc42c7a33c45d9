internal import Synchronization

/// A non-blocking counting semaphore.
final class Slots: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) { free = Mutex(count) }

    func tryAcquire() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func release() { free.withLock { $0 += 1 } }
}
