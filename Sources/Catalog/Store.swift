/// Where sold-out products stand.
package enum SoldOut: String, CaseIterable, Sendable, Hashable {
    /// Behind what is in stock, whatever the sort and direction.
    case last
    /// Wherever the sort puts them.
    case mixed
}

/// By what popularity is counted.
package enum PopularityMetric: String, CaseIterable, Sendable, Hashable {
    case decay
    case last7Days = "7d"
    case last30Days = "30d"
    case last90Days = "90d"
    case all
    case trend

    /// How many days count, today's among them; nil for all.
    package var window: Int? {
        switch self {
        case .last7Days, .trend: 7
        case .last30Days: 30
        case .last90Days: 90
        case .decay, .all: nil
        }
    }
}

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

    package static let titleBound = 200
    package static let halfLifeBounds = 1...3650
    package static let boostBound = 1_000_000.0
}

/// A shelf of a store.
package struct Shelf: Hashable, Sendable {
    package var key: CatalogKey
    package var title: String
    package var parent: CatalogKey?
    package var defaultSort: Sort?
    /// The declared comparison dimension of unit prices; nil leaves it to what most products have.
    package var dimension: Dimension?
    /// nil: the store's.
    package var soldOut: SoldOut?
    /// The sort from which the nightly batch rebuilds the manual order.
    package var positionSource: Sort?

    package init(
        key: CatalogKey,
        title: String,
        parent: CatalogKey? = nil,
        defaultSort: Sort? = nil,
        dimension: Dimension? = nil,
        soldOut: SoldOut? = nil,
        positionSource: Sort? = nil
    ) {
        self.key = key
        self.title = title
        self.parent = parent
        self.defaultSort = defaultSort
        self.dimension = dimension
        self.soldOut = soldOut
        self.positionSource = positionSource
    }

    package static let titleBound = 200
}

/// A shelf and what the server knows of it.
package struct ShelfState: Hashable, Sendable {
    package var shelf: Shelf
    package var productCount: Int
    /// The dimension in force: the declared one, else the one that most products have.
    package var comparisonDimension: Dimension
    /// The default sort of the nearest ancestor that has one.
    package var inheritedSort: Sort?
    package var modifiedAt: Timestamp
    /// Grows with every change that could alter the shelf's pages; never repeats.
    package var version: Int64
    /// Grows with every change of the manual order.
    package var orderVersion: Int64
    /// Grows when keys of the manual order were compacted.
    package var keyGeneration: Int64

    package init(
        shelf: Shelf,
        productCount: Int,
        comparisonDimension: Dimension,
        inheritedSort: Sort?,
        modifiedAt: Timestamp,
        version: Int64,
        orderVersion: Int64,
        keyGeneration: Int64 = 0
    ) {
        self.shelf = shelf
        self.productCount = productCount
        self.comparisonDimension = comparisonDimension
        self.inheritedSort = inheritedSort
        self.modifiedAt = modifiedAt
        self.version = version
        self.orderVersion = orderVersion
        self.keyGeneration = keyGeneration
    }
}
