internal import Foundation

/// One thread that runs one actor's jobs in order, so that blocking on a socket blocks nobody else.
///
/// The thread ends with `stop()`, which the owning actor calls when it is released: until then every job that is
/// enqueued also runs.
final class ThreadExecutor: SerialExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var isStopped = false
    private var thread: Thread?

    init(name: String) {
        let thread = Thread { [self] in run() }
        thread.name = name
        thread.stackSize = 512 << 10
        self.thread = thread
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    /// Lets the thread end once the jobs that wait have run.
    func stop() {
        condition.withLock {
            isStopped = true
            thread = nil
            condition.signal()
        }
    }

    func checkIsolated() {
        precondition(condition.withLock { thread === Thread.current }, "not on the connection's own thread")
    }

    private func run() {
        let executor = asUnownedSerialExecutor()
        while let batch = nextBatch() {
            for job in batch { job.runSynchronously(on: executor) }
        }
    }

    private func nextBatch() -> [UnownedJob]? {
        condition.withLock {
            while jobs.isEmpty, !isStopped { condition.wait() }
            defer { jobs.removeAll(keepingCapacity: true) }
            return jobs.isEmpty ? nil : jobs
        }
    }
}
