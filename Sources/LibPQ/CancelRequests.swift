internal import CLibPQ
internal import Platform
internal import Synchronization

/// Sends cancel requests on threads of their own, because libpq's `PQcancel` blocks until the server has answered, which
/// a stopped server never does.
enum CancelRequests {
    /// How many requests may be on their way; further ones are dropped. A stalled server holds at most as many threads.
    private static let limit = 16
    private static let underway = Mutex(0)

    /// Asks the server to cancel the statement that a connection runs. Never blocks, and promises nothing: the request
    /// may be lost, or arrive when another statement runs.
    ///
    /// - Parameter connection: only looked at during the call, on its own thread.
    /// - Returns: the request on its way; nil if none was sent.
    @discardableResult
    static func send(for connection: OpaquePointer) -> CancelRequest? {
        let mayStart = underway.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard mayStart, let key = PQgetCancel(connection).map(CancelKey.init) else {
            if mayStart { underway.withLock { $0 -= 1 } }
            return nil
        }
        let request = CancelRequest()
        do throws(OSThreadError) {
            try OSThread.start(name: "cancel", stackSize: 64 << 10) {
                key.send()
                request.end()
                underway.withLock { $0 -= 1 }
            }
            return request
        } catch {
            underway.withLock { $0 -= 1 }
            return nil
        }
    }
}

/// A cancel request on its way.
final class CancelRequest: Sendable {
    private let hasEndedFlag = Atomic(false)

    /// Whether the server has taken it, or cannot be reached: it stops no later statement.
    var hasEnded: Bool { hasEndedFlag.load(ordering: .acquiring) }

    fileprivate func end() { hasEndedFlag.store(true, ordering: .releasing) }
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
