internal import Catalog
internal import Synchronization

/// Limits the memory of all request bodies in flight, counted as their bytes arrive, until their requests end.
///
/// Requests without a token share at most a quarter of it; one client can use at most an eighth.
final class BodyMemory: Sendable {
    private struct State {
        var all = 0
        var anonymous = 0
        var clients: [RateLimiter.Client: (bytes: Int, bodies: Int)] = [:]
    }

    private let limit: Int
    /// Whether there are limits per client.
    private let limitsClients: Bool
    private let state = Mutex(State())

    /// The maximum number of a client's bodies in flight.
    static let bodiesPerClient = 256

    private var anonymousLimit: Int { limit / 4 }
    private var clientLimit: Int { limit / 8 }

    /// - Parameter limit: in bytes.
    init(limit: Int, limitsClients: Bool) {
        self.limit = limit
        self.limitsClients = limitsClients
    }

    /// The bytes of all bodies in flight.
    var bytes: Int { state.withLock { $0.all } }

    /// Begins a body.
    ///
    /// - Throws: `tooMany` if the client has too many.
    func open(_ client: RateLimiter.Client) throws(CatalogError) -> Body {
        let isOpen = state.withLock { state in
            let own = state.clients[client] ?? (0, 0)
            guard !limitsClients || own.bodies < Self.bodiesPerClient else { return false }
            state.clients[client] = (own.bytes, own.bodies + 1)
            return true
        }
        guard isOpen else {
            throw .tooMany(
                "a client can send at most \(Self.bodiesPerClient) bodies at the same time; wait until one has completed"
            )
        }
        return Body(memory: self, client: client)
    }

    private func add(_ bytes: Int, _ client: RateLimiter.Client) throws(CatalogError) {
        let failure = state.withLock { state -> CatalogError? in
            let own = state.clients[client] ?? (0, 0)
            guard !limitsClients || own.bytes + bytes <= clientLimit else {
                return .tooMany(
                    "the bodies that a client sends at the same time can have at most \(clientLimit) bytes in total; wait until one has completed"
                )
            }
            guard state.all + bytes <= limit, !client.isAnonymous || state.anonymous + bytes <= anonymousLimit else {
                return .unavailable
            }
            state.all += bytes
            if client.isAnonymous { state.anonymous += bytes }
            state.clients[client] = (own.bytes + bytes, own.bodies)
            return nil
        }
        if let failure { throw failure }
    }

    private func close(_ bytes: Int, _ client: RateLimiter.Client) {
        state.withLock { state in
            state.all -= bytes
            if client.isAnonymous { state.anonymous -= bytes }
            let own = state.clients[client] ?? (bytes, 1)
            state.clients[client] = own.bodies > 1 ? (own.bytes - bytes, own.bodies - 1) : nil
        }
    }

    /// A body in flight. Its memory is returned when its last reference is released.
    final class Body: Sendable {
        private let memory: BodyMemory
        private let client: RateLimiter.Client
        private let bytes = Mutex(0)

        fileprivate init(memory: BodyMemory, client: RateLimiter.Client) {
            self.memory = memory
            self.client = client
        }

        deinit { memory.close(bytes.withLock { $0 }, client) }

        /// Counts bytes that arrived.
        ///
        /// - Throws: `tooMany` at the client's limit; `unavailable` at the limit of all.
        func add(_ count: Int) throws(CatalogError) {
            try memory.add(count, client)
            bytes.withLock { $0 += count }
        }
    }
}
