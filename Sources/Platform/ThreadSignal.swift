internal import Glibc

/// A signal on which one thread waits, and that any thread sends. Signals that are sent before the wait are kept.
package final class ThreadSignal: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func send() { sem_post(semaphore) }

    package func wait() {
        // A signal of the operating system interrupts the wait.
        while sem_wait(semaphore) != 0, errno == EINTR {}
    }
}
