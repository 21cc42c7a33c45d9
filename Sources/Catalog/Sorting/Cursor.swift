/// Where a page ended: everything that is needed to go on from there, whatever has changed meanwhile.
package struct Cursor: Hashable, Sendable {
    /// What it pages through: a shelf, a store's shelves, a store's products. A cursor works nowhere else.
    package var scope: String
    /// The order, in the API's grammar.
    package var sort: String
    /// Where the order came from when the first page was asked for.
    package var source: SortSource
    /// What it is narrowed down by, as a query; and who decided that.
    package var filter: String
    package var filterSource: FilterSource
    /// The comparison dimension that the order of groups began with.
    package var dimension: Dimension
    /// Whether the last one stood behind what is in stock.
    package var isSoldOut: Bool
    /// The shelf's generation of keys: with another one a manual position is found by id.
    package var keyGeneration: Int64
    /// The last one's value of each key.
    package var values: [SortValue]
    package var name: String
    package var id: String

    package init(
        scope: String,
        sort: String,
        source: SortSource,
        filter: String = "",
        filterSource: FilterSource = .query,
        dimension: Dimension = .mass,
        isSoldOut: Bool = false,
        keyGeneration: Int64 = 0,
        values: [SortValue] = [],
        name: String = "",
        id: String
    ) {
        self.scope = scope
        self.sort = sort
        self.source = source
        self.filter = filter
        self.filterSource = filterSource
        self.dimension = dimension
        self.isSoldOut = isSoldOut
        self.keyGeneration = keyGeneration
        self.values = values
        self.name = name
        self.id = id
    }
}

extension Cursor {
    /// The place that it stands for, as text.
    package var place: String { "\(isSoldOut)\(values)\u{0}\(name)\u{0}\(id)" }
}
