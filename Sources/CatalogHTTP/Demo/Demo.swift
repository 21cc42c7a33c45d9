package import Catalog

/// The features of a demo server, open to everyone who can reach it: sessions without a password and
/// price storms. Never enable it on a server that is reachable from other machines.
package actor Demo {
    private let signer: TokenSigner
    /// The price changes of each store, by day.
    private let storms: [CatalogKey: [[PriceChange]]]
    /// The number of days played since the server started.
    private var played: [CatalogKey: Int] = [:]
    /// The day being played. Days are played one at a time, in order.
    private var currentTask: Task<Day, any Error>?

    struct Day {
        /// The day's number, starting at 1.
        var number: Int
        var count: Int
        /// The number of changed prices.
        var changed: Int
    }

    /// The lifetime of a session, in seconds.
    private static let lifetime: Int64 = 12 * 3600

    /// - Parameters:
    ///   - signer: the signer of session tokens.
    ///   - storms: price changes by store and day; after the last day they start over.
    package init(signer: TokenSigner, storms: [CatalogKey: [[PriceChange]]]) {
        self.signer = signer
        self.storms = storms.filter { !$0.value.isEmpty }
    }

    nonisolated var stores: [CatalogKey] { storms.keys.sorted { $0.text < $1.text } }

    /// Returns a session token for a user, and its expiry.
    nonisolated func session(of user: UserID, _ scopes: Set<Scope>) async throws -> (
        token: String, expiresAt: Timestamp
    ) {
        let end = Timestamp.now().adding(seconds: Self.lifetime)
        let caller = Caller(user: user, scopes: scopes, expiresAt: end, token: UniqueID.random().text)
        return (signer.token(for: caller), end)
    }

    /// Plays the next day of a store's price changes; nil if the store has none.
    ///
    /// If writing fails, the same day is played next time.
    func play(
        _ store: CatalogKey,
        _ write: @escaping @Sendable ([PriceChange]) async throws -> Int
    ) async throws -> Day? {
        guard let days = storms[store] else { return nil }
        while let currentTask { _ = await currentTask.result }
        let index = played[store, default: 0] % days.count
        let task = Task { Day(number: index + 1, count: days.count, changed: try await write(days[index])) }
        currentTask = task
        defer { currentTask = nil }
        let day = try await task.value
        played[store, default: 0] += 1
        return day
    }

    /// Returns whether a listening host is a loopback address.
    package static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return ["localhost", "::1"].contains(host.lowercased())
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Returns whether a request's authority, `host:port` with IPv6 in brackets, is a loopback address.
    package static func isLoopback(authority: String) -> Bool {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return isLoopback(String(authority[authority.index(after: authority.startIndex)..<end]))
        }
        return isLoopback(String(authority.prefix { $0 != ":" }))
    }
}
