/// A store, with one currency and one set of unit price rules.
package struct Store: Hashable, Sendable {
    package var key: CatalogKey
    package var title: String
    package var currency: Currency
    /// The language and region of its readers as a BCP 47 tag.
    package var locale: String
    /// The language by whose rules names, brands and titles are ordered, as a BCP 47 tag or `root`; nil for that of the locale.
    package var collation: String?
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
        locale: String = defaultLocale,
        collation: String? = nil,
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
        self.collation = collation
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

    /// Whether a text has the form of a BCP 47 language tag: parts of 1 to 8 letters or digits. It is not looked up.
    package static func isLanguageTag(_ text: String) -> Bool {
        (2...languageTagLimit).contains(text.utf8.count)
            && text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).allSatisfy { part in
                (1...8).contains(part.count)
                    && part.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
            }
    }

    /// The language by whose rules names, brands and titles are ordered, as a BCP 47 tag or `root`.
    package var language: String { collation ?? locale }

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

    package static let defaultLocale = "en"
    /// The language of texts that belong to no store: its rules are the ones that most languages share.
    package static let languageOfNoStore = "root"
    package static let titleLimit = 200
    /// The number of characters of a language tag.
    package static let languageTagLimit = 35
    package static let halfLifeRange = 1...3650
    package static let boostLimit = 1_000_000.0
}

extension Store {
    /// The sort by attributes that is new, as for shelves.
    package func attributeSorts(since old: Store? = nil) -> [(field: String, sort: Sort)] {
        ResolvedAttributes.changed(defaultSort, old?.defaultSort, "default_sort")
    }
}

/// The placement of sold-out products.
package enum SoldOut: String, CaseIterable, Sendable, Hashable {
    /// After available products, whatever the sort and direction.
    case last
    /// Among available products, by the sort.
    case mixed
}
