internal import Catalog

/// Limits the open event streams of each client.
final class ClientStreams: Sendable {
    private let limit: Int
    private let slots: KeyedSlots<RateLimiter.Client>

    init(limit: Int) {
        self.limit = limit
        slots = KeyedSlots(limit: limit)
    }

    /// - Throws: `tooMany` if the client has too many.
    func open(_ client: RateLimiter.Client) throws(CatalogError) -> Stream {
        guard slots.tryAcquire(client) else {
            throw .tooMany("a client can have at most \(limit) event streams; close unused ones")
        }
        return Stream(slots: slots, client: client)
    }

    /// An open stream. It closes when its last reference is released.
    final class Stream: Sendable {
        private let slots: KeyedSlots<RateLimiter.Client>
        private let client: RateLimiter.Client

        fileprivate init(slots: KeyedSlots<RateLimiter.Client>, client: RateLimiter.Client) {
            self.slots = slots
            self.client = client
        }

        deinit { slots.release(client) }
    }
}
