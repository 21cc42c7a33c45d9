internal import Synchronization

/// The source of verification keys: secrets, a rotating key set, or both.
package actor TokenKeys {
    private let secrets: [TokenKey]
    private let load: (@Sendable () async throws -> [UInt8])?
    private nonisolated let clock: @Sendable () -> ContinuousClock.Instant
    private var set: TokenKeySet?
    private var lastAttempt: ContinuousClock.Instant?
    private var loading: Task<Bool, Never>?
    /// Incremented with every new set, so that tokens verified with an earlier set are verified again.
    nonisolated let generation = Atomic(0)
    /// When the set is due for a refresh; readable outside the actor.
    private nonisolated let due = Mutex<ContinuousClock.Instant?>(nil)

    /// The age at which a set is refreshed.
    private static let lifetime: Duration = .seconds(300)
    /// The minimum time between fetches, so that invalid tokens cannot trigger a flood of them.
    private static let retryInterval: Duration = .seconds(10)

    /// - Parameters:
    ///   - secrets: the secrets for HS256, each of at least 32 bytes; a token may be signed with any of them, so that
    ///     they can be rotated.
    ///   - load: fetches the key set for ES256 and RS256, as JSON.
    package init(
        secrets: [[UInt8]],
        load: (@Sendable () async throws -> [UInt8])? = nil,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.secrets = secrets.map { TokenKey(secret: $0) }
        self.load = load
        self.clock = clock
    }

    /// The minimum length of a secret, in bytes. Source: RFC 7518, section 3.2.
    package static let minimumSecretLength = 32

    /// Refreshes an old key set in the background, even if all tokens are served from the cache.
    nonisolated func refreshIfDue() {
        let isDue = due.withLock { due in
            guard let moment = due, moment <= clock() else { return false }
            // Refresh once; retry after an interval if that fails.
            due = clock() + Self.retryInterval
            return true
        }
        if isDue { Task { await refresh() } }
    }

    /// Fetches the key set now; false on failure.
    @discardableResult
    package func refresh() async -> Bool {
        guard let load else { return true }
        if let loading { return await loading.value }
        let task = Task { () -> Bool in
            guard let document = try? await load(), let fresh = try? TokenKeySet(document) else { return false }
            replace(fresh)
            return true
        }
        loading = task
        lastAttempt = clock()
        defer { loading = nil }
        return await task.value
    }

    private func replace(_ fresh: TokenKeySet) {
        set = fresh
        due.withLock { $0 = clock() + Self.lifetime }
        generation.add(1, ordering: .releasing)
    }

    /// Returns the keys that may have signed a token with this header.
    ///
    /// An old set is refreshed in the background; a set without the key is refreshed before the response. If
    /// the refresh fails, the old set stays in use.
    ///
    /// - Throws: `keysUnavailable` if no set was ever fetched.
    func keys(_ algorithm: TokenAlgorithm, _ kid: String?) async throws(TokenError) -> [TokenKey] {
        if algorithm == .hs256 { return secrets }
        guard load != nil else { return [] }
        if let key = set?.key(kid) {
            refreshIfDue()
            return key.algorithm == algorithm ? [key] : []
        }
        if canRetry || loading != nil { await refresh() }
        guard let set else { throw .keysUnavailable }
        return [set.key(kid)].compactMap { $0 }.filter { $0.algorithm == algorithm }
    }

    private var canRetry: Bool { lastAttempt.map { $0 + Self.retryInterval <= clock() } ?? true }
}
