internal import Glibc
package import Platform
internal import Synchronization

/// Writes lines to a file descriptor on a thread of its own, so that a slow reader of the log delays no request.
///
/// Lines that arrive within a few milliseconds are written together. If the reader does not keep up, lines are dropped and counted;
/// a part of the buffer is reserved for warnings and errors.
package final class LogOutput: Sendable {
    /// The maximum number of bytes that wait, without and with the part for warnings and errors.
    package struct Limits: Sendable {
        package var ordinary = 4 << 20
        package var urgent = 5 << 20

        package init() {}
    }

    private struct State {
        var bytes: [UInt8] = []
        var dropped = 0
        var droppedTotal = 0
        /// Whether the thread sleeps until a line arrives.
        var isIdle = false
        var isWriting = false
    }

    private let descriptor: Int32
    private let limits: Limits
    private let collect: @Sendable () -> Void
    private let droppedLine: @Sendable (Int) -> [UInt8]
    private let state = Mutex(State())
    private let wakeup = ThreadSignal()

    /// The time during which lines are collected, in microseconds.
    package static let collection: UInt32 = 5000

    /// - Parameters:
    ///   - descriptor: stays open; must not be closed before the process ends.
    ///   - collect: waits while lines are collected, before they are written together; nil for some milliseconds.
    ///   - droppedLine: returns the line that reports how many lines were dropped.
    /// - Throws: `OSThreadError` if the system is out of threads.
    package init(
        _ descriptor: Int32,
        limits: Limits = Limits(),
        collect: (@Sendable () -> Void)? = nil,
        droppedLine: @escaping @Sendable (Int) -> [UInt8]
    ) throws(OSThreadError) {
        self.descriptor = descriptor
        self.limits = limits
        self.collect = collect ?? { usleep(LogOutput.collection) }
        self.droppedLine = droppedLine
        try OSThread.start(name: "log") { [self] in run() }
    }

    /// The number of lines that were dropped since the start.
    package var droppedLines: Int { state.withLock { $0.droppedTotal } }

    /// Adds a line, which ends with a line break.
    package func write(_ line: some Collection<UInt8>, isUrgent: Bool = false) {
        let wakes = state.withLock { state in
            guard state.bytes.count + line.count <= (isUrgent ? limits.urgent : limits.ordinary) else {
                state.dropped += 1
                state.droppedTotal += 1
                return false
            }
            state.bytes += line
            defer { state.isIdle = false }
            return state.isIdle
        }
        if wakes { wakeup.send() }
    }

    /// Waits until all lines are written.
    ///
    /// - Parameter limit: the maximum time; after it, the remaining lines may be lost.
    package func flush(within limit: Duration = .seconds(1)) {
        let deadline = ContinuousClock.now + limit
        while state.withLock({ !$0.bytes.isEmpty || $0.isWriting }), ContinuousClock.now < deadline { usleep(1000) }
    }

    private func run() {
        while true {
            let isEmpty = state.withLock { state in
                state.isIdle = state.bytes.isEmpty
                return state.isIdle
            }
            if isEmpty { wakeup.wait() }
            collect()
            let (bytes, dropped) = state.withLock { state in
                defer {
                    state.bytes = []
                    state.dropped = 0
                    state.isWriting = true
                }
                return (state.bytes, state.dropped)
            }
            var lines = bytes
            if dropped > 0 { lines += droppedLine(dropped) }
            // A closed log must not end the server.
            _ = descriptor.writeAll(lines)
            state.withLock { $0.isWriting = false }
        }
    }
}
