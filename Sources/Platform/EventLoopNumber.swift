/// The number of the event loop that a task runs for, so that event loops can have resources of their own.
package enum EventLoopNumber {
    /// nil for a task that runs for no particular event loop.
    @TaskLocal package static var current: Int?
}
