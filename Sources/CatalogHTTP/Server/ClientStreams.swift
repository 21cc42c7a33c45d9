internal import Catalog
internal import Synchronization

/// Limits the open event streams of each client.
final class ClientStreams: Sendable {
    private let limit: Int
    private let counts = Mutex<[RateLimiter.Client: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// - Throws: `tooMany` if the client has too many.
    func open(_ client: RateLimiter.Client) throws(CatalogError) -> Stream {
        let isOpen = counts.withLock { counts in
            guard counts[client, default: 0] < limit else { return false }
            counts[client, default: 0] += 1
            return true
        }
        guard isOpen else { throw .tooMany("a client can have at most \(limit) event streams; close unused ones") }
        return Stream(streams: self, client: client)
    }

    private func close(_ client: RateLimiter.Client) {
        counts.withLock { counts in
            let rest = counts[client, default: 1] - 1
            counts[client] = rest > 0 ? rest : nil
        }
    }

    /// An open stream; it is closed when it is no longer referenced.
    final class Stream: Sendable {
        private let streams: ClientStreams
        private let client: RateLimiter.Client

        fileprivate init(streams: ClientStreams, client: RateLimiter.Client) {
            self.streams = streams
            self.client = client
        }

        deinit { streams.close(client) }
    }
}
