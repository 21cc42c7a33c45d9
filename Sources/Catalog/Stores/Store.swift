/// A store, with one currency and one set of unit price rules.
package struct Store: Hashable, Sendable {
    package var key: CatalogKey
    package var title: String
    package var currency: Currency
    /// The language of its texts as a BCP 47 tag; it does not affect collation.
    package var locale: String
    package var unitPricing: UnitPricing
    package var soldOut: SoldOut
    package var defaultSort: Sort?
    package var popularityMetric: PopularityMetric
    package var popularityHalfLifeDays: Int
    package var newcomerBoost: Double
    /// The count behind the current scores; a changed rule applies from the next count.
    package var lastCount: PopularityCount

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
        self.lastCount =
            counted
            ?? PopularityCount(
                metric: popularityMetric,
                halfLifeDays: popularityHalfLifeDays,
                newcomerBoost: newcomerBoost
            )
    }

    /// Whether a text has the letters of a BCP 47 language tag: it is not looked up.
    package static func isLocale(_ text: String) -> Bool {
        (1...35).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isLetter || (48...57).contains($0)
            }
    }

    /// The rule of the next count.
    package var popularityRule: PopularityCount {
        PopularityCount(
            metric: popularityMetric,
            halfLifeDays: popularityHalfLifeDays,
            newcomerBoost: newcomerBoost
        )
    }

    /// Returns the day to which scores are scaled; for a sliding window, the day of the last count.
    package func scoreDay(on day: Int) -> Int { lastCount.metric == .decay ? day : lastCount.day ?? day }

    package static let titleLimit = 200
    package static let halfLifeRange = 1...3650
    package static let boostLimit = 1_000_000.0
}
