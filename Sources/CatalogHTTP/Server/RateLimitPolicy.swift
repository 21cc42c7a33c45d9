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
