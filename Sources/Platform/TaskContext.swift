/// Where the work of the current task runs, and how it is observed.
package struct TaskContext: Sendable {
    @TaskLocal package static var current = TaskContext()

    /// The event loop that the task runs for; nil for none in particular.
    package var eventLoop: CurrentEventLoop?
    /// Records the steps of the task's request; nil if nobody needs them.
    package var steps: StepRecorder?
    /// The position of the task's request, which requests to other servers continue; nil outside a trace.
    package var trace: TraceParent?
    /// A record in the place of the terminal; nil for the terminal of the process.
    package var terminal: TerminalRecord?

    package init(
        eventLoop: CurrentEventLoop? = nil,
        steps: StepRecorder? = nil,
        trace: TraceParent? = nil,
        terminal: TerminalRecord? = nil
    ) {
        (self.eventLoop, self.steps, self.trace, self.terminal) = (eventLoop, steps, trace, terminal)
    }

    /// Runs work with the context.
    package func run<T>(_ body: () async throws -> T) async rethrows -> T {
        try await Self.$current.withValue(self, operation: body)
    }

    /// Runs work with the context.
    package func run<T>(_ body: () throws -> T) rethrows -> T {
        try Self.$current.withValue(self, operation: body)
    }
}

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
