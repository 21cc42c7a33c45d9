internal import Catalog

/// An asynchronous counting semaphore with FIFO order.
actor AsyncSemaphore {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ places: Int) { free = places }

    nonisolated func run<T: Sendable>(_ body: () async -> T) async -> T {
        await enter()
        let value = await body()
        await leave()
        return value
    }

    private func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
