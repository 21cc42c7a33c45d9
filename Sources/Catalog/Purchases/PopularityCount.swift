/// How a store's popularity was counted last.
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

    /// Whether two counts went by the same rule. (The half-life rules decay alone.)
    package func hasRule(of other: PopularityCount) -> Bool {
        metric == other.metric && newcomerBoost == other.newcomerBoost
            && (metric != .decay || halfLifeDays == other.halfLifeDays)
    }
}
