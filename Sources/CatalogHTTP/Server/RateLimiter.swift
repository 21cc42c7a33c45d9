internal import Catalog
internal import HTTPTypes
internal import Synchronization

/// Limits the work that each client can cause.
///
/// Source of the headers: draft-ietf-httpapi-ratelimit-headers.
final class RateLimiter: Sendable {
    /// The remaining quota of a client, for the headers of a response.
    struct Quota: Sendable, Hashable {
        let policy: RateLimitPolicy
        let remaining: Int
        /// The seconds until the quota is full again, or until a rejected request can be repeated.
        let reset: Int

        func add(to headers: inout HTTPFields) {
            headers[.rateLimitPolicy] = "\"default\";q=\(policy.burst);w=\(policy.window)"
            headers[.rateLimit] = "\"default\";r=\(remaining);t=\(reset)"
        }
    }

    private let policy: RateLimitPolicy
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let buckets: Mutex<RecentDictionary<Client, TokenBucket>>

    /// The size of the clients that are remembered, in bytes: at least 100,000 of them. The others start with a full quota again.
    private static let limit = 32 << 20

    init(_ policy: RateLimitPolicy, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.policy = policy
        self.clock = clock
        buckets = Mutex(RecentDictionary(limit: Self.limit) { client, _ in client.size })
    }

    /// Charges a request to a client.
    ///
    /// - Parameter quota: set to the client's remaining quota, even if the request is rejected.
    /// - Throws: `Problem`, 429.
    func charge(_ cost: Int, to client: Client, _ quota: inout Quota?) throws(Problem) {
        switch update(client, { bucket, now in bucket.take(cost, policy, now: now) }) {
        case .granted(let remaining, let reset): quota = Quota(policy: policy, remaining: remaining, reset: reset)
        case .rejected(let remaining, let retryAfter):
            quota = Quota(policy: policy, remaining: remaining, reset: retryAfter)
            var problem = Problem(
                .rateLimited,
                "too many requests; this one costs \(cost) points and \(remaining) are left; retry in \(retryAfter) s"
            )
            problem.headers[.retryAfter] = "\(retryAfter)"
            throw problem
        }
    }

    /// Charges a client for completed work. Its quota may become negative.
    ///
    /// - Parameter quota: set to the client's remaining quota.
    func settle(_ cost: Int, with client: Client, _ quota: inout Quota?) {
        let (remaining, reset) = update(client) { bucket, now in bucket.settle(cost, policy, now: now) }
        quota = Quota(policy: policy, remaining: remaining, reset: reset)
    }

    private func update<Result>(
        _ client: Client,
        _ change: (inout TokenBucket, ContinuousClock.Instant) -> sending Result
    ) -> sending Result {
        let now = clock()
        return buckets.withLock { buckets in
            var bucket = buckets[client] ?? TokenBucket(policy, now: now)
            defer { buckets[client] = bucket }
            return change(&bucket, now)
        }
    }
}

extension Client {
    /// The approximate size with its bucket, in bytes.
    fileprivate var size: Int {
        switch self {
        case .user(let user): 160 + user.text.utf8.count
        case .address, .local: 192
        }
    }
}

extension HTTPField.Name {
    static let rateLimit = Self("RateLimit")!
    static let rateLimitPolicy = Self("RateLimit-Policy")!
    static let forwardedFor = Self("X-Forwarded-For")!
}

/// The quota of points that every client has.
package struct RateLimitPolicy: Sendable, Hashable {
    /// The maximum number of points.
    package let burst: Int
    /// The points that are added per second.
    package let rate: Int

    /// The default quota. A short order costs 10 points, so a client can read 60 per second, or 600 in a burst.
    package static let standard = RateLimitPolicy(burst: 6000, rate: 600)
    package static let rule =
        "off, or the maximum and the refill per second in points, such as 6000/600; the maximum must be at least the refill"

    private init(burst: Int, rate: Int) {
        self.burst = burst
        self.rate = rate
    }

    /// Parses `burst/rate`, each between 1 and a billion; the burst is at least the rate.
    package init?(_ text: String) {
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let burst = numbers[0], let rate = numbers[1], rate >= 1, burst >= rate,
            burst <= 1_000_000_000
        else { return nil }
        self.init(burst: burst, rate: rate)
    }

    /// The seconds in which an empty quota becomes full.
    var window: Int { (burst + rate - 1) / rate }
}
