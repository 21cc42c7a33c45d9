internal import NIOCore
internal import NIOPosix
internal import Platform
internal import Synchronization

/// Runs the jobs of tasks on an event loop.
final class EventLoopExecutor: TaskExecutor {
    private static let all = Mutex<[ObjectIdentifier: EventLoopExecutor]>([:])

    private let loop: any EventLoop
    private let number: Int

    private init(_ loop: any EventLoop, number: Int) {
        self.loop = loop
        self.number = number
    }

    /// Returns the executor of an event loop. Event loops are never freed.
    static func of(_ loop: any EventLoop) -> EventLoopExecutor {
        all.withLock { all in
            if let known = all[ObjectIdentifier(loop)] { return known }
            let new = EventLoopExecutor(loop, number: all.count)
            all[ObjectIdentifier(loop)] = new
            return new
        }
    }

    /// Starts a task on the event loop.
    func run(_ body: @escaping @Sendable () async -> Void) {
        TaskContext(eventLoop: CurrentEventLoop(number: number, executor: self)).run {
            _ = Task(executorPreference: self, operation: body)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

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
