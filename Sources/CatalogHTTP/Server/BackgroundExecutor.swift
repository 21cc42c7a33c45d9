internal import NIOCore
internal import NIOPosix
internal import Platform

/// Runs the work of costly requests on few threads, so that pages and small writes have the others.
final class BackgroundExecutor: TaskExecutor {
    /// The executor of the process; it has one thread for every two processors.
    static let shared = BackgroundExecutor(threads: max(1, System.coreCount / 2))

    private let pool: NIOThreadPool

    private init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        pool.submit { _ in
            CrashReport.prepareThread()
            job.runSynchronously(on: executor)
        }
    }
}
