#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A product's popularity: its purchases, exponentially decayed by half every half-life.
///
/// The stored sort value does not change with time alone: `log₂ Σ count(d) × 2^((d − epoch) ÷ half-life)`, rounded to
/// 10⁻⁶ ("forward decay": Cormode, Shkapenyuk, Srivastava, Xu, ICDE 2009). Scaled to a day, it is the score in
/// responses. A product that was never bought stores −∞ and shows 0; the value is never missing.
package struct Popularity: Hashable, Sendable, Comparable {
    /// The stored logarithm.
    package let log2: Double

    /// Day 0 of the logarithm, 2020-01-01, in days since 1970-01-01.
    package static let epochDay = 18262
    /// The maximum number of purchases that an import may set.
    package static let seedLimit = 1e12

    package static let none = Popularity(log2: -.infinity)

    package init(log2: Double) { self.log2 = log2 }

    /// Creates the popularity of a number of purchases on one day.
    package init(purchases: Double, day: Int, halfLifeDays: Int) {
        guard purchases > 0 else {
            self = .none
            return
        }
        let value = logarithm(purchases) + Double(day - Self.epochDay) / Double(halfLifeDays)
        self.log2 = (value * 1e6).rounded() / 1e6
    }

    /// Returns the score on a day: 1 per purchase on that day, 0.5 per purchase one half-life earlier. For a sliding
    /// window, the plain count.
    package func score(day: Int, count: PopularityCount) -> Double {
        if log2 == -.infinity { return 0 }
        guard count.metric == .decay else { return exp2(log2) }
        return exp2(log2 - Double(day - Self.epochDay) / Double(count.halfLifeDays))
    }

    package static func < (a: Popularity, b: Popularity) -> Bool { a.log2 < b.log2 }
}

private func logarithm(_ value: Double) -> Double { log2(value) }

/// `base^−exponent`.
package func inversePower(_ base: Double, _ exponent: Double) -> Double { pow(base, -exponent) }

/// The metric of popularity.
package enum PopularityMetric: String, CaseIterable, Sendable, Hashable {
    case decay
    case last7Days = "7d"
    case last30Days = "30d"
    case last90Days = "90d"
    case all
    case trend

    /// The number of days that count, including today; nil for all.
    package var window: Int? {
        switch self {
        case .last7Days, .trend: 7
        case .last30Days: 30
        case .last90Days: 90
        case .decay, .all: nil
        }
    }
}

/// The rule and the day of a store's last popularity count.
package struct PopularityCount: Hashable, Sendable {
    package var metric: PopularityMetric
    package var halfLifeDays: Int
    package var newcomerBoost: Double
    /// The UTC day, in days since 1970-01-01; nil before the first count.
    package var day: Int?

    package init(metric: PopularityMetric, halfLifeDays: Int, newcomerBoost: Double, day: Int? = nil) {
        self.metric = metric
        self.halfLifeDays = halfLifeDays
        self.newcomerBoost = newcomerBoost
        self.day = day
    }

    /// Returns whether two counts used the same rule. The half-life only matters for decay.
    package func hasSameRule(of other: PopularityCount) -> Bool {
        metric == other.metric && newcomerBoost == other.newcomerBoost
            && (metric != .decay || halfLifeDays == other.halfLifeDays)
    }
}
