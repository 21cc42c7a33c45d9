internal import CPlatform
internal import Glibc

/// An operating system thread, for code that blocks in system calls.
package enum OSThread {
    /// Starts a detached thread.
    ///
    /// - Parameters:
    ///   - name: the name in `ps` and debuggers; at most 15 bytes are kept.
    ///   - stackSize: the stack size in bytes; at least the system's minimum is used.
    ///   - body: the function to run on the new thread.
    /// - Throws: `OSThreadError` if the system is out of threads.
    package static func start(
        name: StaticString,
        stackSize: Int = 512 << 10,
        _ body: @escaping @Sendable () -> Void
    ) throws(OSThreadError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, max(stackSize, Int(sysconf(Int32(_SC_THREAD_STACK_MIN)))))
        let start = Unmanaged.passRetained(ThreadStart(name: name.description, body: body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            &attributes,
            { argument in
                let start = Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue()
                aisle_name_thread(start.name)
                aisle_prepare_thread_for_crashes()
                start.body()
                return nil
            },
            start.toOpaque()
        )
        guard status == 0 else {
            start.release()
            throw OSThreadError(description: "cannot start a thread: \(String(cString: strerror(status)))")
        }
    }
}

/// The name and body of a new thread.
private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// The error for a system that is out of threads.
package struct OSThreadError: Error, CustomStringConvertible {
    package let description: String
}

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
