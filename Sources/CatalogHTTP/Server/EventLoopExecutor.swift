internal import NIOCore
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
