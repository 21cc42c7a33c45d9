internal import Synchronization

/// Where keys come from: a secret, a key set that may change, or both.
package actor TokenKeys {
    private let secret: TokenKey?
    private let load: (@Sendable () async throws -> [UInt8])?
    private nonisolated let clock: @Sendable () -> ContinuousClock.Instant
    private var set: TokenKeySet?
    private var triedAt: ContinuousClock.Instant?
    private var loading: Task<Bool, Never>?
    /// Grows with every set: what an earlier one verified is not to be trusted for long.
    nonisolated let generation = Atomic(0)
    /// When the set is to be fetched again, without asking the actor.
    private nonisolated let due = Mutex<ContinuousClock.Instant?>(nil)

    /// How old a set gets before it is fetched again.
    private static let lifetime: Duration = .seconds(300)
    /// The least time between two attempts, whatever tokens come: strangers must not make us fetch.
    private static let pause: Duration = .seconds(10)

    /// - Parameters:
    ///   - secret: for HS256; at least 32 bytes.
    ///   - load: fetches the key set for ES256 and RS256, as JSON.
    package init(
        secret: [UInt8]?,
        load: (@Sendable () async throws -> [UInt8])? = nil,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.secret = secret.map { TokenKey(secret: $0) }
        self.load = load
        self.clock = clock
    }

    /// The fewest bytes of a secret. Source: RFC 7518, section 3.2.
    package static let leastSecret = 32

    /// Fetches the key set beside the caller, where it is old: also while only tokens come that are remembered.
    nonisolated func refreshIfDue() {
        let isDue = due.withLock { due in
            guard let moment = due, moment <= clock() else { return false }
            // Once, and again after a while where it fails.
            due = clock() + Self.pause
            return true
        }
        if isDue { Task { await refresh() } }
    }

    /// Fetches the key set now; false where that fails.
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
        triedAt = clock()
        defer { loading = nil }
        return await task.value
    }

    private func replace(_ fresh: TokenKeySet) {
        set = fresh
        due.withLock { $0 = clock() + Self.lifetime }
        generation.add(1, ordering: .releasing)
    }

    /// The key that a token's header names; nil for one that is not known.
    ///
    /// A set that is too old is fetched anew beside the request, and one that lacks the key before it is answered; where
    /// that fails the old set serves on.
    ///
    /// - Throws: `keysUnavailable` where no set was ever fetched.
    func key(_ algorithm: TokenAlgorithm, _ kid: String?) async throws(TokenError) -> TokenKey? {
        if algorithm == .hs256 { return secret }
        guard load != nil else { return nil }
        if let key = set?.key(kid) {
            refreshIfDue()
            return key.algorithm == algorithm ? key : nil
        }
        if mayTry || loading != nil { await refresh() }
        guard let set else { throw .keysUnavailable }
        return set.key(kid).flatMap { $0.algorithm == algorithm ? $0 : nil }
    }

    private var mayTry: Bool { triedAt.map { $0 + Self.pause <= clock() } ?? true }
}
