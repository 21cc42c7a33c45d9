/// The event loop that a task runs for, so that event loops can have resources of their own.
package struct CurrentEventLoop: Sendable {
    /// nil for a task that runs for no particular event loop.
    package static var value: CurrentEventLoop? { TaskContext.current.eventLoop }

    package let number: Int
    /// Runs tasks on the event loop.
    package let executor: any TaskExecutor

    package init(number: Int, executor: any TaskExecutor) {
        (self.number, self.executor) = (number, executor)
    }
}
