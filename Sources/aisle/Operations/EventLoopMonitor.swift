internal import Metrics
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Telemetry

/// Measures how late the event loops run tasks that are due. A late event loop delays all its connections.
struct EventLoopMonitor: Service {
    let group: any EventLoopGroup
    let factory: any MetricsFactory

    /// The time between two measurements of an event loop.
    private static let interval: TimeAmount = .milliseconds(250)

    func run() async throws {
        let timer = Metrics.Timer(label: ServerMetrics.eventLoopDelay.name, dimensions: [], factory: factory)
        let tasks = group.makeIterator().map { Self.measure($0, with: timer) }
        try? await gracefulShutdown()
        for task in tasks { task.cancel() }
    }

    private static func measure(_ loop: any EventLoop, with timer: Metrics.Timer) -> RepeatedTask {
        let due = NIOLoopBoundBox.makeBoxSendingValue(NIODeadline.now() + interval, eventLoop: loop)
        return loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            let now = NIODeadline.now()
            timer.recordNanoseconds(max(0, (now - due.value).nanoseconds))
            due.value = now + interval
        }
    }
}
