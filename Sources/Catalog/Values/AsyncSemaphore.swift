/// An asynchronous counting semaphore with FIFO order.
package actor AsyncSemaphore {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ permits: Int) { free = permits }

    /// The number of callers that wait.
    package var waitingCount: Int { waiting.count }

    package nonisolated func run<T: Sendable>(_ body: () async -> T) async -> T {
        await acquire()
        let value = await body()
        await release()
        return value
    }

    private func acquire() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func release() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
