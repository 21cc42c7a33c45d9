package import Catalog

/// What a demonstration opens to everybody who reaches the server: sessions for which nobody is asked for a password, and
/// storms of prices. A server that others reach must not have one.
package actor Demo {
    private let signer: TokenSigner
    /// Each store's days of price changes.
    private let storms: [CatalogKey: [[PriceChange]]]
    /// How many days were played since the server started.
    private var played: [CatalogKey: Int] = [:]
    /// The day that is being played: one at a time, so that they come in their order.
    private var playing: Task<Day, any Error>?

    struct Day {
        /// From 1 on.
        var number: Int
        var count: Int
        /// How many prices changed.
        var changed: Int
    }

    /// How long a session lasts, in seconds.
    private static let lifetime: Int64 = 12 * 3600

    /// - Parameters:
    ///   - signer: signs the sessions' tokens.
    ///   - storms: price changes by store and day, which begin anew after the last.
    package init(signer: TokenSigner, storms: [CatalogKey: [[PriceChange]]]) {
        self.signer = signer
        self.storms = storms.filter { !$0.value.isEmpty }
    }

    nonisolated var stores: [CatalogKey] { storms.keys.sorted { $0.text < $1.text } }

    /// A session of a user, and when it ends.
    nonisolated func session(of user: UserID, _ scopes: Set<Scope>) async throws -> (
        token: String, expiresAt: Timestamp
    ) {
        let end = Timestamp(microseconds: Timestamp.now().microseconds + Self.lifetime * 1_000_000)
        return (signer.token(for: Caller(user: user, scopes: scopes, expiresAt: end)), end)
    }

    /// Plays the next day of a store's prices; nil where the store has none.
    ///
    /// A day that could not be written comes again.
    func play(
        _ store: CatalogKey,
        _ write: @escaping @Sendable ([PriceChange]) async throws -> Int
    ) async throws -> Day? {
        guard let days = storms[store] else { return nil }
        while let playing { _ = await playing.result }
        let index = played[store, default: 0] % days.count
        let task = Task { Day(number: index + 1, count: days.count, changed: try await write(days[index])) }
        playing = task
        defer { playing = nil }
        let day = try await task.value
        played[store, default: 0] += 1
        return day
    }

    /// Whether a host that is listened on is this machine for itself.
    package static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return ["localhost", "::1"].contains(host.lowercased())
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The same of the authority of a request: a host, in brackets where it is an IPv6 address, and a port.
    package static func isLoopback(authority: String) -> Bool {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return isLoopback(String(authority[authority.index(after: authority.startIndex)..<end]))
        }
        return isLoopback(String(authority.prefix { $0 != ":" }))
    }
}
