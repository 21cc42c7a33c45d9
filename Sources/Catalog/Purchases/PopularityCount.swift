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
