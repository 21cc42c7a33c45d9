internal import CPlatform
internal import Glibc

/// A thread of the operating system, for code that blocks in system calls.
package enum OSThread {
    /// Starts a detached thread.
    ///
    /// - Parameters:
    ///   - name: what `ps` and debuggers show; at most 15 bytes are kept.
    ///   - stackSize: in bytes; rounded up to the system's minimum.
    ///   - body: runs on the new thread, which ends when it returns.
    /// - Throws: `OSThreadError`, if the system has no thread left.
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

/// The system has no thread left.
package struct OSThreadError: Error, CustomStringConvertible {
    package let description: String
}

/// What a new thread runs.
private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}
