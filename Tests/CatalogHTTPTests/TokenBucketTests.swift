import Catalog
import Ordering
import Testing

@testable import CatalogHTTP

@Suite("Token buckets") struct TokenBucketTests {
    private static let policy = RateLimitPolicy("10/2")!

    @Test("A full bucket grants its burst and no more")
    func burstIsGranted() {
        let now = ContinuousClock.now
        var bucket = TokenBucket(Self.policy, now: now)
        for taken in 1...10 {
            #expect(bucket.take(1, Self.policy, now: now) == .granted(remaining: 10 - taken, reset: (taken + 1) / 2))
        }
        #expect(bucket.take(1, Self.policy, now: now) == .rejected(remaining: 0, retryAfter: 1))
    }

    @Test("Points are added over time, up to the burst")
    func pointsAreAdded() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(Self.policy, now: start)
        _ = bucket.take(10, Self.policy, now: start)
        #expect(bucket.take(3, Self.policy, now: start + .seconds(1)) == .rejected(remaining: 2, retryAfter: 1))
        #expect(bucket.take(3, Self.policy, now: start + .seconds(2)) == .granted(remaining: 1, reset: 5))
        #expect(bucket.take(1, Self.policy, now: start + .seconds(3600)) == .granted(remaining: 9, reset: 1))
    }

    @Test("A client that waits for the retry time is served")
    func waitIsEnough() {
        var now = ContinuousClock.now
        var bucket = TokenBucket(Self.policy, now: now)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let cost = Int.random(in: 1...25, using: &random)
            guard case .rejected(_, let wait) = bucket.take(cost, Self.policy, now: now) else { continue }
            now += .seconds(wait)
            guard case .granted = bucket.take(cost, Self.policy, now: now) else {
                Issue.record("rejected after \(wait) seconds")
                return
            }
        }
    }

    @Test("A request that costs more than the quota needs a full bucket")
    func largeRequestNeedsFullBucket() {
        let now = ContinuousClock.now
        var bucket = TokenBucket(Self.policy, now: now)
        #expect(bucket.take(100, Self.policy, now: now) == .granted(remaining: 0, reset: 5))
        #expect(bucket.take(100, Self.policy, now: now + .seconds(4)) == .rejected(remaining: 8, retryAfter: 1))
        #expect(bucket.take(100, Self.policy, now: now + .seconds(5)) == .granted(remaining: 0, reset: 5))
    }

    @Test("Finished work can leave a debt, at most a full quota, which is repaid first")
    func debtIsRepaidFirst() {
        let now = ContinuousClock.now
        var bucket = TokenBucket(Self.policy, now: now)
        #expect(bucket.settle(4, Self.policy, now: now) == (6, 2))
        #expect(bucket.settle(9, Self.policy, now: now) == (0, 7))
        #expect(bucket.take(1, Self.policy, now: now) == .rejected(remaining: 0, retryAfter: 2))
        #expect(bucket.take(1, Self.policy, now: now + .seconds(2)) == .granted(remaining: 0, reset: 5))
        #expect(bucket.settle(1_000_000, Self.policy, now: now + .seconds(2)) == (0, 10))
        #expect(bucket.take(10, Self.policy, now: now + .seconds(11)) == .rejected(remaining: 8, retryAfter: 1))
        #expect(bucket.take(10, Self.policy, now: now + .seconds(12)) == .granted(remaining: 0, reset: 5))
    }

    @Test("A clock that goes back adds nothing")
    func clockGoingBackAddsNothing() {
        let now = ContinuousClock.now
        var bucket = TokenBucket(Self.policy, now: now)
        _ = bucket.take(10, Self.policy, now: now)
        #expect(bucket.take(1, Self.policy, now: now - .seconds(60)) == .rejected(remaining: 0, retryAfter: 1))
        #expect(bucket.take(1, Self.policy, now: now) == .rejected(remaining: 0, retryAfter: 1))
    }

    @Test("Over any time, a client gets at most its burst and its rate")
    func rateHolds() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(Self.policy, now: start)
        var random = SeededGenerator(seed: 4)
        var (now, granted) = (start, 0)
        for _ in 0..<5000 {
            now += .milliseconds(Int.random(in: 0...400, using: &random))
            let cost = Int.random(in: 1...5, using: &random)
            if case .granted = bucket.take(cost, Self.policy, now: now) { granted += cost }
            #expect(Double(granted) <= 10 + 2 * ((now - start) / .seconds(1)) + 1e-6)
        }
    }

    @Test("A quota is a burst and a rate", arguments: [("6000/600", 10), ("10/10", 1), ("11/10", 2)])
    func quotasAreParsed(text: String, window: Int) throws {
        let policy = try #require(RateLimitPolicy(text))
        #expect("\(policy.burst)/\(policy.rate)" == text)
        #expect(policy.window == window)
    }

    @Test(
        "An invalid quota is rejected",
        arguments: ["", "10", "10/", "/10", "5/10", "10/0", "-1/-1", "1/1/1", "a/b", "99999999999/1"]
    )
    func otherTextsAreRejected(text: String) { #expect(RateLimitPolicy(text) == nil) }
}
