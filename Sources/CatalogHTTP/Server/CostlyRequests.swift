internal import Catalog
internal import Synchronization

/// Limits the requests that take much processor time, so that admitted requests are answered in time.
struct CostlyRequests: Sendable {
    private let slots: Slots
    /// The slots of clients without a token, so that users have the others.
    private let anonymous: Slots
    private let clients: KeyedSlots<RateLimiter.Client>

    /// The share of all slots that a client can have, and that all clients without a token can have together.
    private static let (clientShare, anonymousShare) = (8, 4)

    /// - Parameters:
    ///   - limit: the maximum number of requests that send their body, run or wait for a thread.
    ///   - limitsClients: whether each client, and all clients without a token, have only a share of them.
    init(limit: Int, limitsClients: Bool) {
        slots = Slots(limit)
        anonymous = Slots(limitsClients ? max(1, limit / Self.anonymousShare) : limit)
        clients = KeyedSlots(limit: limitsClients ? max(1, limit / Self.clientShare) : limit)
    }

    /// - Throws: `tooMany` for a client that has its share already; `unavailable` if all slots are taken.
    func acquire(_ client: RateLimiter.Client) throws(CatalogError) {
        guard clients.tryAcquire(client) else {
            throw .tooMany("too many of your large requests are in progress; send fewer at the same time")
        }
        guard !client.isAnonymous || anonymous.tryAcquire() else {
            clients.release(client)
            throw .unavailable
        }
        guard slots.tryAcquire() else {
            if client.isAnonymous { anonymous.release() }
            clients.release(client)
            throw .unavailable
        }
    }

    func release(_ client: RateLimiter.Client) {
        slots.release()
        if client.isAnonymous { anonymous.release() }
        clients.release(client)
    }
}

/// Counts the rows that a request reads, which are charged when it is done.
final class WorkMeter: Sendable {
    private let count = Atomic<Int>(0)

    var rows: Int { count.load(ordering: .relaxed) }

    func add(rows: Int) { count.add(rows, ordering: .relaxed) }
}
