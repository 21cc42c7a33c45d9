internal import Catalog

/// Limits the requests that take much processor time, so that those that are admitted are answered in time.
struct CostlyRequests: Sendable {
    private let slots: Slots
    private let clients: KeyedSlots<RateLimiter.Client>

    /// A client's share of all slots.
    private static let clientShare = 8

    /// - Parameters:
    ///   - limit: the maximum number of requests that run or wait for a thread.
    ///   - limitsClients: whether each client has only a share of them.
    init(limit: Int, limitsClients: Bool) {
        slots = Slots(limit)
        clients = KeyedSlots(limit: limitsClients ? max(1, limit / Self.clientShare) : limit)
    }

    /// - Throws: `tooMany` for a client that has its share already; `unavailable` if all slots are taken.
    func acquire(_ client: RateLimiter.Client) throws(CatalogError) {
        guard clients.tryAcquire(client) else {
            throw .tooMany("too many of your large requests are in progress; send fewer at the same time")
        }
        guard slots.tryAcquire() else {
            clients.release(client)
            throw .unavailable
        }
    }

    func release(_ client: RateLimiter.Client) {
        slots.release()
        clients.release(client)
    }
}
