internal import CLibPQ
internal import Platform
internal import Synchronization

/// Sends cancel requests on separate threads, because libpq's `PQcancel` blocks until the server responds, which
/// a stopped server never does.
enum CancelRequests {
    /// The maximum number of pending requests; further ones are dropped. A stalled server occupies at most as many threads.
    private static let limit = 16
    private static let pendingCount = Mutex(0)

    /// Asks the server to cancel a connection's current statement. It never blocks and guarantees nothing: the request
    /// may be lost, or arrive when another statement runs.
    ///
    /// - Parameter connection: only used during the call, on its own thread.
    /// - Returns: the pending request; nil if none was sent.
    @discardableResult
    static func send(for connection: OpaquePointer) -> CancelRequest? {
        let mayStart = pendingCount.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard mayStart, let key = PQgetCancel(connection).map(CancelKey.init) else {
            if mayStart { pendingCount.withLock { $0 -= 1 } }
            return nil
        }
        let request = CancelRequest()
        do throws(OSThreadError) {
            try OSThread.start(name: "cancel", stackSize: 64 << 10) {
                key.send()
                request.end()
                pendingCount.withLock { $0 -= 1 }
            }
            return request
        } catch {
            pendingCount.withLock { $0 -= 1 }
            return nil
        }
    }
}

/// Owns one `PGcancel`, which libpq documents as safe to use from another thread.
private final class CancelKey: @unchecked Sendable {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }
    deinit { PQfreeCancel(raw) }

    func send() {
        var text = [CChar](repeating: 0, count: 256)
        _ = PQcancel(raw, &text, Int32(text.count))
    }
}

/// A pending cancel request.
final class CancelRequest: Sendable {
    private let hasEndedFlag = Atomic(false)

    /// Whether the server has received the request or is unreachable; it cannot affect later statements.
    var hasEnded: Bool { hasEndedFlag.load(ordering: .acquiring) }

    func end() { hasEndedFlag.store(true, ordering: .releasing) }
}
