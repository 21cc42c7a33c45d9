internal import Glibc
internal import Platform
internal import Synchronization

/// An executor with one thread. It runs the jobs of its actor, and of tasks with this executor preference, in order.
///
/// A blocking job blocks no other executor. The thread ends with `stop()`, which the owning actor calls in `deinit`;
/// jobs enqueued before that still run.
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopped = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    private let work = ThreadSignal()

    /// - Throws: kind `exhausted` if the system is out of threads or descriptors.
    package init(name: StaticString) throws(PostgresError) {
        do throws(OSThreadError) { try OSThread.start(name: name) { [self] in run() } } catch {
            throw PostgresError(error)
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if isFirst { work.send() }
    }

    /// Ends the thread after the waiting jobs have run.
    func stop() {
        state.withLock { $0.isStopped = true }
        work.send()
    }

    package func checkIsolated() {
        let isCurrent = state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
        precondition(isCurrent, "not on the connection's thread")
    }

    private func run() {
        state.withLock { $0.thread = pthread_self() }
        let (actor, task) = (asUnownedSerialExecutor(), asUnownedTaskExecutor())
        while true {
            work.wait()
            let (batch, isStopped) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isStopped)
            }
            for job in batch { job.runSynchronously(isolatedTo: actor, taskExecutor: task) }
            if isStopped, batch.isEmpty { return }
            if isStopped { work.send() }
        }
    }
}
