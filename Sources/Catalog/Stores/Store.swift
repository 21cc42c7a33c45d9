/// A store: one currency, one set of rules for unit prices.
package struct Store: Hashable, Sendable {
    package var key: CatalogKey
    package var title: String
    package var currency: Currency
    /// The language of its texts, as a BCP 47 tag; does not change the collation.
    package var locale: String
    package var unitPricing: UnitPricing
    package var soldOut: SoldOut
    package var defaultSort: Sort?
    package var popularityMetric: PopularityMetric
    package var popularityHalfLifeDays: Int
    package var newcomerBoost: Double
    /// By what the scores are that products have: a changed rule holds from the next count on.
    package var counted: PopularityCount

    package init(
        key: CatalogKey,
        title: String,
        currency: Currency,
        locale: String = "en",
        unitPricing: UnitPricing = .eu,
        soldOut: SoldOut = .last,
        defaultSort: Sort? = nil,
        popularityMetric: PopularityMetric = .decay,
        popularityHalfLifeDays: Int = 14,
        newcomerBoost: Double = 0,
        counted: PopularityCount? = nil
    ) {
        self.key = key
        self.title = title
        self.currency = currency
        self.locale = locale
        self.unitPricing = unitPricing
        self.soldOut = soldOut
        self.defaultSort = defaultSort
        self.popularityMetric = popularityMetric
        self.popularityHalfLifeDays = popularityHalfLifeDays
        self.newcomerBoost = newcomerBoost
        self.counted =
            counted
            ?? PopularityCount(
                metric: popularityMetric,
                halfLifeDays: popularityHalfLifeDays,
                newcomerBoost: newcomerBoost
            )
    }

    /// The rule that the next count goes by.
    package var rule: PopularityCount {
        PopularityCount(
            metric: popularityMetric,
            halfLifeDays: popularityHalfLifeDays,
            newcomerBoost: newcomerBoost
        )
    }

    /// The day to which scores are scaled on a day: of a sliding window, that of the last count.
    package func scoreDay(on day: Int) -> Int { counted.metric == .decay ? day : counted.day ?? day }

    package static let titleLimit = 200
    package static let halfLifeRange = 1...3650
    package static let boostLimit = 1_000_000.0
}
