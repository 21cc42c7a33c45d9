/// A client's quota of points, which refills continuously up to a maximum. It has no clock.
struct TokenBucket: Sendable {
    /// The result of taking points.
    enum Outcome: Sendable, Hashable {
        /// - Parameters:
        ///   - remaining: the points that are left.
        ///   - reset: the seconds until the bucket is full.
        case granted(remaining: Int, reset: Int)
        /// - Parameter retryAfter: the seconds until there are enough points; at least 1.
        case rejected(remaining: Int, retryAfter: Int)
    }

    /// Negative if the client owes points.
    private var points: Double
    private var updatedAt: ContinuousClock.Instant

    /// Creates a full bucket.
    init(_ policy: RateLimitPolicy, now: ContinuousClock.Instant) {
        points = Double(policy.burst)
        updatedAt = now
    }

    /// Takes points if there are enough. A request that costs more than the whole quota needs a full bucket.
    mutating func take(_ cost: Int, _ policy: RateLimitPolicy, now: ContinuousClock.Instant) -> Outcome {
        let (burst, rate) = (Double(policy.burst), Double(policy.rate))
        refill(policy, now: now)
        let wanted = min(Double(cost), burst)
        guard points >= wanted else {
            let wait = ((wanted - points) / rate).rounded(.up)
            return .rejected(remaining: max(0, Int(points)), retryAfter: max(1, Int(wait)))
        }
        points -= wanted
        let (remaining, reset) = state(policy)
        return .granted(remaining: remaining, reset: reset)
    }

    /// Takes points for completed work. The balance may become negative, by at most the burst.
    mutating func settle(
        _ cost: Int,
        _ policy: RateLimitPolicy,
        now: ContinuousClock.Instant
    ) -> (remaining: Int, reset: Int) {
        refill(policy, now: now)
        points = max(-Double(policy.burst), points - Double(cost))
        return state(policy)
    }

    private mutating func refill(_ policy: RateLimitPolicy, now: ContinuousClock.Instant) {
        points = min(Double(policy.burst), points + max(0, (now - updatedAt) / .seconds(1)) * Double(policy.rate))
        updatedAt = max(updatedAt, now)
    }

    private func state(_ policy: RateLimitPolicy) -> (remaining: Int, reset: Int) {
        let missing = Double(policy.burst) - points
        return (max(0, Int(points)), Int((missing / Double(policy.rate)).rounded(.up)))
    }
}
