import Catalog
import CatalogHTTP
import CatalogPostgres
import Foundation
import Testing
import TestSupport

/// Probes of a server whose threads are all at work.
@Suite(.timeLimit(.minutes(5))) struct BusyServerTests {
    /// Runs a blocking body on a thread of its own, while no job of the shared thread pool can run.
    private static func withoutThreads<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        let gate = Gate()
        // Each priority has its queue, so jobs that are enqueued later wait behind these.
        for priority in [TaskPriority.high, .medium, .low, .background] {
            for _ in 0..<256 { Task.detached(priority: priority) { gate.wait() } }
        }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let value = body()
                gate.open()
                continuation.resume(returning: value)
            }
        }
    }

    /// Holds threads until it is opened.
    private final class Gate: @unchecked Sendable {
        private let condition = NSCondition()
        private var isOpen = false

        func wait() {
            condition.lock()
            while !isOpen { condition.wait() }
            condition.unlock()
        }

        func open() {
            condition.lock()
            isOpen = true
            condition.broadcast()
            condition.unlock()
        }
    }

    @Test(
        "Probes are answered while the shared threads are busy",
        arguments: ["/livez", "/readyz", "/readyz?for=reads"]
    )
    func probesNeedNoSharedThread(path: String) async throws {
        try await TestAPI.withServer { client, _ in
            // The first probe connects to the database.
            let raw = try RawClient(client.port)
            let request = "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n"
            raw.send(request)
            #expect(RawResponse(await raw.receive())?.status == 200)
            let text = await Self.withoutThreads {
                raw.send(request)
                return raw.blockingReceive()
            }
            #expect(RawResponse(text)?.status == 200, "\(text)")
        }
    }
}
