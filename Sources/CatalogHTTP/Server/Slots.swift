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

/// Non-blocking counting semaphores, one per key; a key that holds nothing takes no memory.
final class KeyedSlots<Key: Hashable & Sendable>: Sendable {
    private let limit: Int
    private let counts = Mutex<[Key: Int]>([:])

    /// - Parameter limit: the maximum count of each key.
    init(limit: Int) { self.limit = limit }

    func tryAcquire(_ key: Key) -> Bool {
        counts.withLock { counts in
            guard counts[key, default: 0] < limit else { return false }
            counts[key, default: 0] += 1
            return true
        }
    }

    func release(_ key: Key) {
        counts.withLock { counts in
            let rest = counts[key, default: 1] - 1
            counts[key] = rest > 0 ? rest : nil
        }
    }
}
